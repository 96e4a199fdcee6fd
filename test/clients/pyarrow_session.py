"""What a program with pyarrow does, on a bucket of its own: the AWS SDK for C++. Ends with `all well`, or with a failed assertion."""

import os

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs as fs
import pyarrow.parquet as pq

BUCKET = "arrow-bucket"
scheme, host = os.environ["AWS_ENDPOINT_URL"].split("://")
s3 = fs.S3FileSystem(
    endpoint_override=host, scheme=scheme, allow_bucket_creation=True, allow_bucket_deletion=True
)
s3.create_dir(BUCKET)

# A table, whole and in part.
table = pa.table({"id": range(50_000), "text": [f"row {i}" for i in range(50_000)]})
pq.write_table(table, f"{BUCKET}/table.parquet", filesystem=s3)
assert pq.read_table(f"{BUCKET}/table.parquet", filesystem=s3).equals(table)
few = pq.read_table(f"{BUCKET}/table.parquet", filesystem=s3, columns=["id"], filters=[("id", "<", 5)])
assert few.num_rows == 5

# A large file, in parts.
body = os.urandom(23 * 1024 * 1024)
with s3.open_output_stream(f"{BUCKET}/large", metadata={"Content-Type": "a/b"}) as out:
    out.write(body)
with s3.open_input_stream(f"{BUCKET}/large") as stream:
    assert stream.metadata()["Content-Type"] == b"a/b"
    assert stream.read() == body
with s3.open_input_file(f"{BUCKET}/large") as file:
    file.seek(7_000_000)
    assert (file.size(), file.read(100)) == (len(body), body[7_000_000:7_000_100])

# Copied, moved, found, removed.
s3.copy_file(f"{BUCKET}/large", f"{BUCKET}/copy")
s3.move(f"{BUCKET}/copy", f"{BUCKET}/moved")
ds.write_dataset(table, f"{BUCKET}/set", filesystem=s3, format="parquet", max_rows_per_file=20_000, max_rows_per_group=20_000)
assert ds.dataset(f"{BUCKET}/set", filesystem=s3).to_table().num_rows == table.num_rows
found = {info.base_name for info in s3.get_file_info(fs.FileSelector(BUCKET))}
assert found == {"table.parquet", "large", "moved", "set"}, found
s3.delete_dir_contents(BUCKET)
s3.delete_dir(BUCKET)
print("all well")
