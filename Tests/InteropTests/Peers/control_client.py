"""Checks the control interface of a running share against its description, with schemathesis.

    control_client.py SOCKET

Its requests go to the Unix socket by way of a TCP port on the loopback interface. It ends with the status of schemathesis.
"""

import asyncio
import sys


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def main(path):
    async def forward(reader, writer):
        try:
            share_reader, share_writer = await asyncio.open_unix_connection(path)
        except OSError:
            return writer.close()
        await asyncio.gather(copy(reader, share_writer), copy(share_reader, writer))

    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    address = "http://127.0.0.1:%d" % server.sockets[0].getsockname()[1]
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,negative_data_rejection,unsupported_method"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "schemathesis.cli", "run", address + "/v1/openapi.json", "--url", address, "--checks", checks,
        # Three do not end while the share runs, and one asks the router of the network.
        "--exclude-operation-id", "getRouter",
        "--exclude-operation-id", "stopShare", "--exclude-operation-id", "watchShare", "--exclude-operation-id", "watchSources",
        "--max-examples", "10", "--seed", "1", "--generation-database", "none", "--phases", "examples,coverage,fuzzing", "--no-color",
    )  # fmt: skip
    sys.exit(await process.wait())


asyncio.run(main(sys.argv[1]))
