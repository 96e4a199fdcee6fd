"""What programs with delta-rs do at the same time: six writers append, each by a conditional put of the next log entry. Ends with `all well`."""

import os
import sys
import threading

import boto3
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

BUCKET = "delta-bucket"
boto3.client("s3").create_bucket(Bucket=BUCKET)
options = {
    "AWS_ENDPOINT_URL": os.environ["AWS_ENDPOINT_URL"],
    "AWS_ALLOW_HTTP": "true",
    "aws_conditional_put": "etag",
}
uri = f"s3://{BUCKET}/table"
WRITERS = 6


def rows(writer):
    return pa.table({"writer": [writer] * 100, "n": range(100)})


failures = []


def append(writer):
    try:
        write_deltalake(uri, rows(writer), mode="append", storage_options=options)
    except Exception as error:
        failures.append(error)


write_deltalake(uri, rows(0), storage_options=options)
threads = [threading.Thread(target=append, args=(writer,)) for writer in range(1, WRITERS + 1)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures

table = DeltaTable(uri, storage_options=options)
read = table.to_pyarrow_table()
assert (table.version(), read.num_rows) == (WRITERS, 100 * (WRITERS + 1))
assert sorted(set(read["writer"].to_pylist())) == list(range(WRITERS + 1))
assert DeltaTable(uri, version=0, storage_options=options).to_pyarrow_table().num_rows == 100

table.optimize.compact()
table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
assert DeltaTable(uri, storage_options=options).to_pyarrow_table().num_rows == 100 * (WRITERS + 1)
print("all well")
sys.stdout.flush()
# Threads of its runtime may abort an interpreter that unloads it.
os._exit(0)
