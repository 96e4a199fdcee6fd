"""What a program with boto3 does, on a bucket of its own. Ends with `all well`, or with a failed assertion."""

import io
import json
import os

import boto3
from boto3.s3.transfer import TransferConfig
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

MIB = 1024 * 1024
BUCKET = "boto-bucket"
s3 = boto3.client("s3")


def code_of(call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        return error.response["Error"]["Code"]
    return None


s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
assert s3.get_bucket_location(Bucket=BUCKET)["LocationConstraint"] == "eu-west-1"
assert code_of(s3.create_bucket, Bucket=BUCKET) == "BucketAlreadyOwnedByYou"

# A simple object, with what it can carry.
s3.put_object(
    Bucket=BUCKET, Key="käse/🦊", Body=b"x" * 1000, Metadata={"color": "blue"}, ContentType="text/plain", Tagging="a=b"
)
got = s3.get_object(Bucket=BUCKET, Key="käse/🦊")
assert got["Body"].read() == b"x" * 1000
assert (got["Metadata"], got["ContentType"], got["TagCount"]) == ({"color": "blue"}, "text/plain", 1)
assert s3.get_object(Bucket=BUCKET, Key="käse/🦊", Range="bytes=-10")["ContentLength"] == 10

# What a program asks before it uses a bucket, answered as for one that nobody configured.
for place in ({}, {"Key": "käse/🦊"}):
    acl = s3.get_object_acl(Bucket=BUCKET, **place) if place else s3.get_bucket_acl(Bucket=BUCKET)
    (grant,) = acl["Grants"]
    assert (grant["Permission"], grant["Grantee"]["Type"]) == ("FULL_CONTROL", "CanonicalUser")
    assert grant["Grantee"]["ID"] == acl["Owner"]["ID"]
    policy = {"Owner": acl["Owner"], "Grants": acl["Grants"]}
    put_acl = s3.put_object_acl if place else s3.put_bucket_acl
    put_acl(Bucket=BUCKET, AccessControlPolicy=policy, **place)
    put_acl(Bucket=BUCKET, ACL="private", **place)
    assert code_of(put_acl, Bucket=BUCKET, ACL="public-read", **place) == "AccessControlListNotSupported"
assert code_of(s3.get_bucket_policy, Bucket=BUCKET) == "NoSuchBucketPolicy"

# Access control lists, where the bucket has them.
anonymous = boto3.client("s3", config=Config(signature_version=UNSIGNED))
s3.create_bucket(
    Bucket="boto-lists",
    ObjectOwnership="ObjectWriter",
    CreateBucketConfiguration={"LocationConstraint": "eu-west-1"},
)
listed = boto3.resource("s3").Object("boto-lists", "a")
listed.put(Body=b"data")
assert code_of(anonymous.get_object, Bucket="boto-lists", Key="a") == "AccessDenied"
listed.Acl().put(ACL="public-read")
assert anonymous.get_object(Bucket="boto-lists", Key="a")["Body"].read() == b"data"
assert [grant["Permission"] for grant in listed.Acl().grants] == ["FULL_CONTROL", "READ"]
listed.Acl().put(ACL="private")
assert code_of(anonymous.get_object, Bucket="boto-lists", Key="a") == "AccessDenied"
s3.upload_fileobj(io.BytesIO(b"y" * 9 * MIB), "boto-lists", "big", ExtraArgs={"ACL": "public-read"})
assert anonymous.head_object(Bucket="boto-lists", Key="big")["ContentLength"] == 9 * MIB
assert code_of(anonymous.list_objects_v2, Bucket="boto-lists") == "AccessDenied"
boto3.resource("s3").BucketAcl("boto-lists").put(ACL="public-read-write")
assert len(anonymous.list_objects_v2(Bucket="boto-lists")["Contents"]) == 2
anonymous.put_object(Bucket="boto-lists", Key="anybody", Body=b"z")
boto3.resource("s3").Bucket("boto-lists").objects.delete()
s3.delete_bucket(Bucket="boto-lists")

# A policy opens what it names to whoever signs nothing, and nothing else.
for key in ("public/a", "private"):
    s3.put_object(Bucket=BUCKET, Key=key, Body=b"data")
statement = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::{BUCKET}/public/*"}
s3.put_bucket_policy(Bucket=BUCKET, Policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]}))
assert s3.get_bucket_policy_status(Bucket=BUCKET)["PolicyStatus"]["IsPublic"]
assert anonymous.get_object(Bucket=BUCKET, Key="public/a")["Body"].read() == b"data"
assert code_of(anonymous.get_object, Bucket=BUCKET, Key="private") == "AccessDenied"
assert code_of(anonymous.list_objects_v2, Bucket=BUCKET) == "AccessDenied"
s3.delete_bucket_policy(Bucket=BUCKET)
assert code_of(anonymous.get_object, Bucket=BUCKET, Key="public/a") == "AccessDenied"
for key in ("public/a", "private"):
    s3.delete_object(Bucket=BUCKET, Key=key)
assert code_of(s3.get_bucket_cors, Bucket=BUCKET) == "NoSuchCORSConfiguration"
cors_rule = {"AllowedOrigins": ["https://app.test"], "AllowedMethods": ["PUT"], "MaxAgeSeconds": 60}
s3.put_bucket_cors(Bucket=BUCKET, CORSConfiguration={"CORSRules": [cors_rule]})
assert s3.get_bucket_cors(Bucket=BUCKET)["CORSRules"] == [cors_rule]
s3.delete_bucket_cors(Bucket=BUCKET)
assert code_of(s3.get_bucket_cors, Bucket=BUCKET) == "NoSuchCORSConfiguration"
assert code_of(s3.get_bucket_lifecycle_configuration, Bucket=BUCKET) == "NoSuchLifecycleConfiguration"
assert s3.get_bucket_request_payment(Bucket=BUCKET)["Payer"] == "BucketOwner"
assert "LoggingEnabled" not in s3.get_bucket_logging(Bucket=BUCKET)
assert code_of(s3.get_public_access_block, Bucket=BUCKET) == "NoSuchPublicAccessBlockConfiguration"
assert s3.list_bucket_metrics_configurations(Bucket=BUCKET)["IsTruncated"] is False

# Checksums of each algorithm that needs no extra package, and a wrong one.
for algorithm in ("CRC32", "SHA1", "SHA256"):
    put = s3.put_object(Bucket=BUCKET, Key="sum", Body=b"123456789", ChecksumAlgorithm=algorithm)
    head = s3.head_object(Bucket=BUCKET, Key="sum", ChecksumMode="ENABLED")
    assert head["Checksum" + algorithm] == put["Checksum" + algorithm]
assert code_of(s3.put_object, Bucket=BUCKET, Key="sum", Body=b"data", ChecksumCRC32="AAAAAA==") == "BadDigest"

# Conditional writes.
assert code_of(s3.put_object, Bucket=BUCKET, Key="sum", Body=b"", IfNoneMatch="*") == "PreconditionFailed"
assert code_of(s3.put_object, Bucket=BUCKET, Key="sum", Body=b"", IfMatch='"other"') == "PreconditionFailed"

# Managed transfer, in parts and threads.
body = os.urandom(12 * MIB + 5)
config = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB, max_concurrency=4)
s3.upload_fileobj(io.BytesIO(body), BUCKET, "managed", Config=config)
target = io.BytesIO()
s3.download_fileobj(BUCKET, "managed", target, Config=config)
assert target.getvalue() == body
s3.copy({"Bucket": BUCKET, "Key": "managed"}, BUCKET, "managed-copy", Config=config)
assert s3.head_object(Bucket=BUCKET, Key="managed-copy")["ContentLength"] == len(body)

# Pages, in order.
keys = sorted(f"many/{i}" for i in range(25))
for key in keys:
    s3.put_object(Bucket=BUCKET, Key=key, Body=key.encode())
pages = s3.get_paginator("list_objects_v2").paginate(
    Bucket=BUCKET, Prefix="many/", PaginationConfig={"PageSize": 10}
)
assert [entry["Key"] for page in pages for entry in page["Contents"]] == keys
older = s3.get_paginator("list_objects").paginate(Bucket=BUCKET, Prefix="many/", PaginationConfig={"PageSize": 10})
assert [entry["Key"] for page in older for entry in page["Contents"]] == keys

# What is not there, and what is not built.
assert code_of(s3.get_object, Bucket=BUCKET, Key="nothing") == "NoSuchKey"
assert code_of(s3.get_object, Bucket="no-such-bucket-here", Key="nothing") == "NoSuchBucket"
assert code_of(s3.put_bucket_policy, Bucket=BUCKET, Policy="{}") == "MalformedPolicy"
assert code_of(s3.put_object, Bucket=BUCKET, Key="k", Body=b"", ServerSideEncryption="aws:kms:dsse") == "NotImplemented"

# The resource interface, and the end.
resource = boto3.resource("s3").Bucket(BUCKET)
assert sum(1 for _ in resource.objects.all()) == 29
resource.objects.all().delete()
assert code_of(s3.head_object, Bucket=BUCKET, Key="managed") == "404"
s3.delete_bucket(Bucket=BUCKET)
print("all well")
