"""What a program with boto3 encrypts, on a bucket of its own. Ends with `all well`, or with a failed assertion."""

import hashlib
import io
import os

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.exceptions import ClientError

MIB = 1024 * 1024
BUCKET = "boto-encrypted"
s3 = boto3.client("s3")
mine = {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": hashlib.sha256(b"mine").digest()}
other = {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": hashlib.sha256(b"other").digest()}


def code_of(call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        return error.response["Error"]["Code"]
    return None


def source(key):
    return {"CopySource" + name: value for name, value in key.items()}


s3.create_bucket(Bucket=BUCKET)

# A customer's key: nothing is given without it, and nothing to another.
put = s3.put_object(Bucket=BUCKET, Key="mine", Body=b"x" * 200_000, **mine)
assert put["SSECustomerAlgorithm"] == "AES256"
got = s3.get_object(Bucket=BUCKET, Key="mine", **mine)
assert (got["Body"].read(), got["SSECustomerAlgorithm"]) == (b"x" * 200_000, "AES256")
assert s3.get_object(Bucket=BUCKET, Key="mine", Range="bytes=65530-65545", **mine)["Body"].read() == b"x" * 16
assert s3.head_object(Bucket=BUCKET, Key="mine", **mine)["ContentLength"] == 200_000
assert code_of(s3.get_object, Bucket=BUCKET, Key="mine") == "InvalidRequest"
assert code_of(s3.get_object, Bucket=BUCKET, Key="mine", **other) == "AccessDenied"
assert code_of(s3.head_object, Bucket=BUCKET, Key="mine", **other) == "403"

# In parts and threads, and copied to another key of the same client.
body = os.urandom(12 * MIB + 5)
config = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB, max_concurrency=4)
s3.upload_fileobj(io.BytesIO(body), BUCKET, "managed", Config=config, ExtraArgs=mine)
target = io.BytesIO()
s3.download_fileobj(BUCKET, "managed", target, Config=config, ExtraArgs=mine)
assert target.getvalue() == body
s3.copy(
    {"Bucket": BUCKET, "Key": "managed"},
    BUCKET,
    "managed-copy",
    Config=config,
    ExtraArgs={**source(mine), **other},
)
assert s3.get_object(Bucket=BUCKET, Key="managed-copy", **other)["Body"].read() == body
s3.copy_object(Bucket=BUCKET, Key="plain-copy", CopySource=BUCKET + "/mine", **source(mine))
assert s3.get_object(Bucket=BUCKET, Key="plain-copy")["Body"].read() == b"x" * 200_000

# The server's keys, asked for or by the bucket's default.
put = s3.put_object(Bucket=BUCKET, Key="store", Body=b"data", ServerSideEncryption="AES256")
assert (put["ServerSideEncryption"], put["ETag"]) == ("AES256", '"%s"' % hashlib.md5(b"data").hexdigest())
put = s3.put_object(
    Bucket=BUCKET,
    Key="kms",
    Body=b"data",
    ServerSideEncryption="aws:kms",
    SSEKMSKeyId="alias/aws/s3",
    SSEKMSEncryptionContext="eyJhIjoiYiJ9",
    BucketKeyEnabled=True,
)
assert (put["SSEKMSKeyId"], put["SSEKMSEncryptionContext"], put["BucketKeyEnabled"]) == ("aws/s3", "eyJhIjoiYiJ9", True)
assert code_of(s3.get_bucket_encryption, Bucket=BUCKET) == "ServerSideEncryptionConfigurationNotFoundError"
rules = [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms"}, "BucketKeyEnabled": True}]
s3.put_bucket_encryption(Bucket=BUCKET, ServerSideEncryptionConfiguration={"Rules": rules})
assert s3.get_bucket_encryption(Bucket=BUCKET)["ServerSideEncryptionConfiguration"]["Rules"] == rules
s3.upload_fileobj(io.BytesIO(body), BUCKET, "by-default", Config=config)
head = s3.head_object(Bucket=BUCKET, Key="by-default")
assert (head["ServerSideEncryption"], head["SSEKMSKeyId"], head["BucketKeyEnabled"]) == ("aws:kms", "aws/s3", True)
assert s3.get_object(Bucket=BUCKET, Key="by-default")["Body"].read() == body
s3.delete_bucket_encryption(Bucket=BUCKET)
assert "ServerSideEncryption" not in s3.put_object(Bucket=BUCKET, Key="plain", Body=b"data")
print("all well")
