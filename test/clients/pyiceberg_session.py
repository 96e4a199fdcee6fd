"""What a program with PyIceberg does over its default file access, pyarrow. Ends with `all well`, or with a failed assertion."""

import os

import boto3
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

BUCKET = "iceberg-bucket"
boto3.client("s3").create_bucket(Bucket=BUCKET)
catalog = SqlCatalog(
    "default",
    **{
        "uri": "sqlite:///catalog.db",
        "warehouse": f"s3://{BUCKET}/warehouse",
        "s3.endpoint": os.environ["AWS_ENDPOINT_URL"],
        "s3.access-key-id": os.environ["AWS_ACCESS_KEY_ID"],
        "s3.secret-access-key": os.environ["AWS_SECRET_ACCESS_KEY"],
        "s3.region": "us-east-1",
    },
)
catalog.create_namespace("space")
rows = pa.table({"id": pa.array(range(1000), pa.int64()), "text": [f"row {i}" for i in range(1000)]})
table = catalog.create_table("space.table", schema=rows.schema)
assert type(table.io).__name__ == "PyArrowFileIO"

table.append(rows)
table.append(rows.slice(0, 10))
assert table.scan().to_arrow().num_rows == 1010
table.delete("id < 5")
assert table.scan(row_filter="id < 10").to_arrow().num_rows == 10
table.overwrite(rows)
assert catalog.load_table("space.table").scan().to_arrow().sort_by("id").equals(rows)
print("all well")
