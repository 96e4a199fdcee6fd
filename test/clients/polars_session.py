"""What a program with Polars does: frames written, sunk in parts, scanned in part. Ends with `all well`, or with a failed assertion."""

import os

import boto3
import polars as pl

BUCKET = "polars-bucket"
boto3.client("s3").create_bucket(Bucket=BUCKET)
options = {
    "aws_endpoint_url": os.environ["AWS_ENDPOINT_URL"],
    "aws_allow_http": "true",
    "aws_access_key_id": os.environ["AWS_ACCESS_KEY_ID"],
    "aws_secret_access_key": os.environ["AWS_SECRET_ACCESS_KEY"],
    "aws_region": "us-east-1",
}
frame = pl.DataFrame({"id": range(1_000_000), "value": [i * 0.5 for i in range(1_000_000)]})
frame.write_parquet(f"s3://{BUCKET}/written.parquet", storage_options=options)
assert pl.read_parquet(f"s3://{BUCKET}/written.parquet", storage_options=options).equals(frame)
few = pl.scan_parquet(f"s3://{BUCKET}/*.parquet", storage_options=options).filter(pl.col("id") < 10)
assert few.collect().height == 10

frame.lazy().sink_parquet(f"s3://{BUCKET}/sunk.parquet", storage_options=options)
sunk = pl.scan_parquet(f"s3://{BUCKET}/sunk.parquet", storage_options=options)
assert sunk.select(pl.len()).collect().item() == frame.height
frame.head(100).write_csv(f"s3://{BUCKET}/head.csv", storage_options=options)
assert pl.scan_csv(f"s3://{BUCKET}/head.csv", storage_options=options).collect().height == 100
print("all well")
