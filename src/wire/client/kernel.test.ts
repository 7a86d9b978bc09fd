import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it } from "vitest";
import { PACKET } from "../../abi/ipc.ts";
import { FrameDecoder } from "../codec/frame.ts";
import { packFrame } from "../codec/msgpack.ts";
import { unpack } from "../codec/unpack.ts";
import { connectKernel } from "./kernel.ts";

let server: Server | undefined;
const dir = mkdtempSync(join(tmpdir(), "crux-kernel-"));
afterEach(() => void server?.close());
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Gives each connection to `serve`; the path to connect to. */
async function listening(serve: (socket: Socket) => void): Promise<string> {
  const path = join(dir, "kernel.sock");
  server = createServer(serve).listen(path);
  await once(server, "listening");
  return path;
}

it("what was received stays as it is, whatever is received after it", async () => {
  const path = await listening((socket) => {
    const decoder = new FrameDecoder();
    socket.on("data", (bytes: Buffer) => {
      for (const framed of decoder.push(bytes)) {
        if (framed.kind !== "frame") continue;
        const { id } = unpack(framed.payload);
        const data = new Uint8Array(Number(id) * 10_000).fill(Number(id));
        socket.write(packFrame(PACKET.response, { id, result: { data } }));
      }
    });
  });
  const kernel = await connectKernel(path);
  const ids = Array.from({ length: 20 }, (_, n) => n + 2);
  const got = await Promise.all(ids.map((id) => kernel.call("device.read", { claim: "c", length: id })));
  for (const [n, { data }] of got.entries()) {
    const id = ids[n] as number;
    expect([data.length, data.every((byte) => byte === id)]).toEqual([id * 10_000, true]);
  }
  kernel.close();
});

it("what does not speak the protocol is left, also when it speaks first", async () => {
  const path = await listening((socket) => void socket.write("220 mail.example ESMTP\r\n"));
  await expect(connectKernel(path)).rejects.toMatchObject({ code: "UNAVAILABLE" });
});
