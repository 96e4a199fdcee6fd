"""Temporary keys as programs with boto3 get and use them. Ends with `all well`, or with a failed assertion."""

import io
import json
import os

import boto3
import urllib3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

BUCKET = "sts-bucket"
MIB = 1024 * 1024
http = urllib3.PoolManager()
sts = boto3.client("sts")
boto3.client("s3").create_bucket(Bucket=BUCKET)


def clients(credentials, service="s3", **more):
    return boto3.client(
        service,
        aws_access_key_id=credentials["AccessKeyId"],
        aws_secret_access_key=credentials["SecretAccessKey"],
        aws_session_token=credentials["SessionToken"],
        **more,
    )


def code(call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        return error.response["Error"]["Code"]
    raise AssertionError("it was accepted")


identity = sts.get_caller_identity()
assert identity["Arn"] == "arn:aws:iam::main:root", identity

policy = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Action": "s3:*Object", "Resource": f"arn:aws:s3:::{BUCKET}/mine/*"},
        {"Effect": "Allow", "Action": "s3:AbortMultipartUpload", "Resource": f"arn:aws:s3:::{BUCKET}/mine/*"},
    ],
}
assumed = sts.assume_role(
    RoleArn="arn:aws:iam::123456789012:role/uploader",
    RoleSessionName="nightly",
    Policy=json.dumps(policy),
    DurationSeconds=900,
)
assert assumed["PackedPolicySize"] <= 100
assert assumed["AssumedRoleUser"]["AssumedRoleId"].endswith(":nightly")
s3 = clients(assumed["Credentials"])
large = os.urandom(12 * MIB)
parts = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB)
s3.upload_fileobj(io.BytesIO(large), BUCKET, "mine/large", Config=parts)
back = io.BytesIO()
s3.download_fileobj(BUCKET, "mine/large", back)
assert back.getvalue() == large
assert code(s3.put_object, Bucket=BUCKET, Key="others/a", Body=b"x") == "AccessDenied"
assert code(s3.list_buckets) == "AccessDenied"

# Without configuration, URLs and forms are signed by version 2.
for config in (None, Config(signature_version="s3v4")):
    s3 = clients(assumed["Credentials"], config=config)
    url = s3.generate_presigned_url("get_object", {"Bucket": BUCKET, "Key": "mine/large"}, ExpiresIn=3600)
    reply = http.request("GET", url)
    assert (reply.status, reply.data) == (200, large), reply.data[:300]
    post = s3.generate_presigned_post(BUCKET, "mine/posted")
    reply = http.request("POST", post["url"], fields={**post["fields"], "file": ("a", b"content")})
    assert reply.status == 204, reply.data
    post = s3.generate_presigned_post(BUCKET, "others/posted")
    reply = http.request("POST", post["url"], fields={**post["fields"], "file": ("a", b"content")})
    assert reply.status == 403, reply.data

session = sts.get_session_token(DurationSeconds=900)["Credentials"]
assert [b["Name"] for b in clients(session).list_buckets()["Buckets"]] == [BUCKET]
assert clients(session, "sts").get_caller_identity()["Arn"] == identity["Arn"]
assert code(clients(session, "sts").get_session_token) == "AccessDenied"
# As the keys of a profile that assumes a role with them.
chained = clients(session, "sts").assume_role(RoleArn="arn:aws:iam::1:role/chained", RoleSessionName="chained")
assert clients(chained["Credentials"]).get_object(Bucket=BUCKET, Key="mine/posted")["Body"].read() == b"content"

broken = {**session, "SessionToken": session["SessionToken"][:-1]}
assert code(clients(broken).list_buckets) == "InvalidToken"
assert code(clients(broken, "sts").get_caller_identity) == "InvalidClientTokenId"
without = boto3.client(
    "s3", aws_access_key_id=session["AccessKeyId"], aws_secret_access_key=session["SecretAccessKey"]
)
assert code(without.list_buckets) == "InvalidAccessKeyId"
assert code(sts.assume_role, RoleArn="arn:aws:iam::1:role/r", RoleSessionName="any", Policy="{}") == "MalformedPolicyDocument"
print("all well")
