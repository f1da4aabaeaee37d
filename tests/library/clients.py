"""A thousand connections at once to a port, each of which sends what it gets back: nothing is lost.

usage: clients.py PORT [CONNECTIONS]
"""
import asyncio
import resource
import sys

ROUNDS = 5


async def talk(port, number):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for i in range(ROUNDS):
        # Some of it is more than a buffer holds.
        text = f"{number}.{i}.".encode() * (1 + 997 * ((number + i) % 3))
        writer.write(text)
        await writer.drain()
        assert await reader.readexactly(len(text)) == text, (number, i)
    return reader, writer


async def main(port, connections):
    open_ones = await asyncio.gather(*(talk(port, n) for n in range(connections)))
    for _, writer in open_ones[::2]:
        writer.close()
    print(f"{connections} connections, {connections * ROUNDS} messages", flush=True)
    # Whoever reads that ends the server, which closes the others.
    for reader, _ in open_ones[1::2]:
        assert await reader.read() == b""


_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000))
