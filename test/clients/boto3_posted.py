"""What a program with boto3 presigns for forms: without configuration by version 2, and by version 4 where it asks for that. Ends with `all well`, or with a failed assertion."""

import boto3
import urllib3
from botocore.config import Config

BUCKET = "posted-bucket"
http = urllib3.PoolManager()
plain = boto3.client("s3")
plain.create_bucket(Bucket=BUCKET)


def send(post, content, filename="photo.jpg", **more):
    # As requests and browsers do it: the file comes last.
    fields = [*post["fields"].items(), *more.items(), ("file", (filename, content))]
    reply = http.request("POST", post["url"], fields=fields, redirect=False)
    return reply.status, reply.data, reply.headers


def stored(key):
    got = plain.get_object(Bucket=BUCKET, Key=key)
    return got, got["Body"].read()


clients = {
    "signature": plain,
    "x-amz-signature": boto3.client("s3", config=Config(signature_version="s3v4")),
}
for signature, s3 in clients.items():
    post = s3.generate_presigned_post(BUCKET, "käse/a b")
    assert signature in post["fields"], post
    status, body, headers = send(post, b"by a form")
    assert (status, body) == (204, b""), (status, body)
    got, data = stored("käse/a b")
    assert data == b"by a form" and headers["ETag"] == got["ETag"]

    # The key is the file's name, below a folder of the signer's.
    post = s3.generate_presigned_post(
        BUCKET,
        "user/${filename}",
        Fields={"acl": "private", "Content-Type": "image/jpeg", "x-amz-meta-color": "blue", "success_action_status": "201"},
        Conditions=[
            {"acl": "private"},
            ["starts-with", "$Content-Type", "image/"],
            {"x-amz-meta-color": "blue"},
            {"success_action_status": "201"},
            ["content-length-range", 1, 5_000_000],
        ],
        ExpiresIn=300,
    )
    large = b"0123456789abcdef" * 200_000
    status, body, _ = send(post, large)
    assert status == 201 and b"<Key>user/photo.jpg</Key>" in body, (status, body)
    got, data = stored("user/photo.jpg")
    assert data == large and (got["ContentType"], got["Metadata"]) == ("image/jpeg", {"color": "blue"})

    status, body, _ = send(post, b"")
    assert status == 400 and b"<Code>EntityTooSmall</Code>" in body, (status, body)
    status, body, _ = send(post, b"x" * 5_000_001)
    assert status == 400 and b"<Code>EntityTooLarge</Code>" in body, (status, body)
    status, body, _ = send(post, b"x", **{"x-amz-meta-other": "x"})
    assert status == 403 and b"Extra input fields: x-amz-meta-other" in body, (status, body)
    status, body, _ = send({**post, "fields": {**post["fields"], "Content-Type": "text/html"}}, b"x")
    assert status == 403 and b"Policy Condition failed" in body, (status, body)

    post = s3.generate_presigned_post(BUCKET, "late", ExpiresIn=-1)
    status, body, _ = send(post, b"x")
    assert status == 403 and b"Policy expired" in body, (status, body)

    page = "https://example.com/done"
    post = s3.generate_presigned_post(
        BUCKET, "redirected", Fields={"success_action_redirect": page}, Conditions=[{"success_action_redirect": page}]
    )
    status, _, headers = send(post, b"x")
    assert status == 303 and headers["Location"].startswith(f"{page}?bucket={BUCKET}&key=redirected&etag=%22"), headers

print("all well")
