"""
Runs commands of aws-cli as they were given, each in a fork of this process, which has loaded the program and what it knows of S3: that takes most of the time
of a command. A line of JSON asks for one, and a line with its exit code answers.
"""
import contextlib
import functools
import gc
import json
import os
import sys

import awscli.clidriver
import awscli.handlers
import botocore.session


def load_descriptions():
    """What the program reads from its own files at each start: a cache of its own keeps it."""
    botocore.session.create_loader = functools.cache(botocore.session.create_loader)
    # As the program has set it for itself.
    loader = botocore.session.create_loader(os.environ.get("AWS_DATA_PATH"))
    for kind in ("service-2", "paginators-1", "waiters-2", "endpoint-rule-set-1"):
        with contextlib.suppress(Exception):
            loader.load_service_model("s3", kind)
    for name in ("cli", "endpoints", "partitions", "_retry", "sdk-default-configuration"):
        with contextlib.suppress(Exception):
            loader.load_data(name)


def become_command(words, environment, directory, stdout, stderr):
    # Beside what the program has set for itself as it was loaded.
    os.environ.update(environment)
    os.chdir(directory)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, path in ((1, stdout), (2, stderr)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    sys.argv = ["aws", *words]
    try:
        code = awscli.clidriver.main()
    except SystemExit as end:
        code = end.code
    sys.stdout.flush()
    sys.stderr.flush()
    # To take down all that was loaded would take longer than the command.
    os._exit(code or 0)


load_descriptions()
# Collecting garbage would copy all of it for each command.
gc.freeze()
print(f"aws-cli/{awscli.__version__}", flush=True)
for line in sys.stdin:
    command = os.fork()
    if command == 0:
        become_command(**json.loads(line))
    _, status = os.waitpid(command, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
