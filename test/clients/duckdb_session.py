"""What a program with DuckDB does. Its extension for S3 comes from PyPI here, not from DuckDB's own host. Ends with `all well`, or with a failed assertion."""

import os

import boto3
import duckdb
from duckdb_extensions import import_extension

BUCKET = "duck-bucket"
boto3.client("s3").create_bucket(Bucket=BUCKET)
import_extension("httpfs")
db = duckdb.connect()
db.load_extension("httpfs")
host = os.environ["AWS_ENDPOINT_URL"].split("://")[1]
db.sql(
    f"""create secret (type s3, endpoint '{host}', use_ssl false, url_style 'path', region 'us-east-1',
    key_id '{os.environ["AWS_ACCESS_KEY_ID"]}', secret '{os.environ["AWS_SECRET_ACCESS_KEY"]}')"""
)

squares = f"s3://{BUCKET}/squares.parquet"
db.sql(f"copy (select i as id, i * i as square from range(2_000_000) t(i)) to '{squares}' (format parquet)")
assert db.sql(f"select count(*), sum(square) from '{squares}' where id < 10").fetchall() == [(10, 285)]
assert db.sql(f"select count(*) from read_parquet('s3://{BUCKET}/*.parquet')").fetchall() == [(2_000_000,)]

parts = f"s3://{BUCKET}/parts"
db.sql(f"copy (select i as id, i % 3 as p from range(1000) t(i)) to '{parts}' (format parquet, partition_by (p))")
counted = db.sql(
    f"select p, count(*) from read_parquet('{parts}/*/*.parquet', hive_partitioning = true) group by p order by p"
).fetchall()
assert counted == [(0, 334), (1, 333), (2, 333)], counted
print("all well")
