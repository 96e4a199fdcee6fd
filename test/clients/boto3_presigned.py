"""What a program with boto3 and no configuration presigns, which it does by version 2 of signatures. Ends with `all well`, or with a failed assertion."""

import urllib.error
import urllib.request

import boto3

BUCKET = "presigned-bucket"
s3 = boto3.client("s3")
s3.create_bucket(Bucket=BUCKET)


def url_of(operation, **parameters):
    expires = parameters.pop("ExpiresIn", 300)
    url = s3.generate_presigned_url(operation, Params={"Bucket": BUCKET, **parameters}, ExpiresIn=expires)
    assert "AWSAccessKeyId=" in url, url
    return url


def ask(method, url, body=None, **headers):
    request = urllib.request.Request(url, data=body, method=method)
    # urllib would say the type of a form otherwise, which the URL does not sign.
    request.add_unredirected_header("Content-type", headers.pop("content_type", ""))
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, reply.read(), reply.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


KEY = "käse/a b+c"
assert ask("PUT", url_of("put_object", Key=KEY), b"by a link")[0] == 200
status, body, _ = ask("GET", url_of("get_object", Key=KEY))
assert (status, body) == (200, b"by a link")
assert ask("HEAD", url_of("head_object", Key=KEY))[0] == 200
assert ask("HEAD", url_of("head_bucket"))[0] == 200

# What the answer is to say of itself, and what is to be kept beside the bytes.
name = 'attachment; filename="a & b.txt"'
got = ask("GET", url_of("get_object", Key=KEY, ResponseContentDisposition=name, ResponseContentType="text/x"))
assert (got[0], got[2]["Content-Disposition"], got[2]["Content-Type"]) == (200, name, "text/x")
put = url_of("put_object", Key="kept", ContentType="text/plain", Metadata={"color": "blue"}, StorageClass="STANDARD")
assert ask("PUT", put, b"kept", content_type="text/plain")[0] == 200
head = s3.head_object(Bucket=BUCKET, Key="kept")
assert (head["Metadata"], head["ContentType"]) == ({"color": "blue"}, "text/plain")
assert ask("PUT", put, b"kept", content_type="text/html")[0] == 403

# A part, by its number and its upload.
upload = s3.create_multipart_upload(Bucket=BUCKET, Key="parts")["UploadId"]
status, _, headers = ask("PUT", url_of("upload_part", Key="parts", UploadId=upload, PartNumber=1), b"part")
assert status == 200
listed = {"Parts": [{"PartNumber": 1, "ETag": headers["ETag"]}]}
s3.complete_multipart_upload(Bucket=BUCKET, Key="parts", UploadId=upload, MultipartUpload=listed)
assert ask("GET", url_of("get_object", Key="parts"))[1] == b"part"

# Not for longer, not for another method, not for another object, not for more than was signed.
url = url_of("get_object", Key=KEY)
assert ask("GET", url_of("get_object", Key=KEY, ExpiresIn=-1))[0] == 403
assert ask("GET", url_of("get_object", Key=KEY, ExpiresIn=8 * 24 * 3600))[0] == 403
assert ask("DELETE", url)[0] == 403
assert ask("GET", url.replace("/k%C3%A4se/", "/kept/"))[0] == 403
assert ask("GET", url + "&versionId=null")[0] == 403
assert ask("GET", url + "&attributes")[0] == 403
assert ask("DELETE", url_of("delete_object", Key=KEY))[0] == 204
assert ask("GET", url)[0] == 404
print("all well")
