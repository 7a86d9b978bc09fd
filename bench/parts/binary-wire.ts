/** Rows of bench/ipc.ts for the binary wire: a daemon of its own, and what the same costs without one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as net from "node:net";
import { join } from "node:path";
import { PACKET } from "../../src/abi/ipc.ts";
import { connectKernel } from "../../src/wire/client/kernel.ts";
import { FrameDecoder } from "../../src/wire/codec/frame.ts";
import { packFrame } from "../../src/wire/codec/msgpack.ts";
import type { Row } from "../table.ts";
import { NODE, Place } from "./place.ts";

const PINGS = Number(process.env.CRUX_BENCH_PINGS ?? 20_000);
const PIPELINED = 10 * PINGS;
const STREAM_BYTES = Number(process.env.CRUX_BENCH_STREAM_MB ?? 256) * 1024 * 1024;
const ROUNDS = 3;
const ECHO = `require("node:net").createServer((s) => s.on("data", (d) => s.write(d))).listen(process.argv[1])`;

export async function wireRows(): Promise<Row[]> {
  const place = new Place();
  const path = join(place.dir, "echo.sock");
  const echo = spawn(NODE, ["-e", ECHO, path], { stdio: "ignore" });
  try {
    await place.start();
    const own = join(place.dir, "run/crux/crux.sock");
    const wire = await connected(own);
    const raw = await connected(path);
    return [await roundTrips(wire, raw), await pipelined(wire, raw), await streamed(own, place)];
  } finally {
    echo.kill();
    await place.close();
  }
}

async function connected(path: string): Promise<net.Socket> {
  for (;;) {
    const socket = net.connect({ path });
    try {
      await once(socket, "connect");
      return socket;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

const ping = packFrame(PACKET.request, { id: "1", method: "kernel.ping" });

/** A second, the best of some rounds: this machine has other work too. */
async function best(measure: () => Promise<number>): Promise<number> {
  let most = 0;
  for (let n = 0; n < ROUNDS; n++) most = Math.max(most, await measure());
  return most;
}

async function roundTrips(wire: net.Socket, raw: net.Socket): Promise<Row> {
  const trips = (socket: net.Socket) => (): Promise<number> =>
    new Promise((resolve) => {
      let left = PINGS;
      const began = performance.now();
      const take = (): void => {
        if (--left > 0) return void socket.write(ping);
        socket.off("data", take);
        resolve(PINGS / ((performance.now() - began) / 1000));
      };
      socket.on("data", take);
      socket.write(ping);
    });
  const bare = await best(trips(raw));
  const own = await best(trips(wire));
  return ["pings a second, one by one", own.toFixed(0), `${bare.toFixed(0)} bare echo`, ratio(own, bare)];
}

async function pipelined(wire: net.Socket, raw: net.Socket): Promise<Row> {
  const batch = 200;
  const many = Buffer.concat(
    Array.from({ length: batch }, (_, n) =>
      packFrame(PACKET.request, { id: String(n), method: "kernel.ping" }),
    ),
  );
  const flood = (socket: net.Socket, isEcho: boolean) => (): Promise<number> =>
    new Promise((resolve) => {
      let [sent, answered, bytes] = [0, 0, 0];
      const decoder = new FrameDecoder();
      const began = performance.now();
      const send = (): void => {
        sent += batch;
        socket.write(many);
      };
      const take = (chunk: Buffer): void => {
        bytes += chunk.length;
        answered = isEcho ? Math.floor((bytes / many.length) * batch) : answered + decoder.push(chunk).length;
        if (answered >= PIPELINED) {
          socket.off("data", take);
          resolve(answered / ((performance.now() - began) / 1000));
        } else while (sent < PIPELINED && sent - answered <= batch) send();
      };
      socket.on("data", take);
      send();
    });
  const bare = await best(flood(raw, true));
  const own = await best(flood(wire, false));
  return ["pings a second, in flight", own.toFixed(0), `${bare.toFixed(0)} bare echo`, ratio(own, bare)];
}

/** As programs read it, with the client that the package has. */
async function streamed(path: string, { dir }: Place): Promise<Row> {
  const command = ["head", "-c", String(STREAM_BYTES), "/dev/zero"];
  const kernel = await connectKernel(path);
  const bare = await best(async () => {
    const began = performance.now();
    const child = spawn(command[0] ?? "", command.slice(1), {
      stdio: ["ignore", "pipe", "ignore"],
      cwd: dir,
    });
    child.stdout.resume();
    await once(child, "close");
    return STREAM_BYTES / 1e6 / ((performance.now() - began) / 1000);
  });
  let named = 0;
  const own = await best(async () => {
    const began = performance.now();
    const id = `stream:${++named}`;
    const options = { onSpoolFull: "block", stdin: "null" } as const;
    const { pid } = await kernel.call("process.spawn", { id, command, options });
    let bytes = 0;
    for await (const { data } of kernel.chunks({ pid })) bytes += data?.byteLength ?? 0;
    if (bytes !== STREAM_BYTES) throw new Error(`${bytes} of ${STREAM_BYTES} bytes arrived`);
    return bytes / 1e6 / ((performance.now() - began) / 1000);
  });
  kernel.close();
  return [
    "output of a program, MB a second",
    own.toFixed(0),
    `${bare.toFixed(0)} pipe of Node`,
    ratio(own, bare),
  ];
}

function ratio(own: number, bare: number): string {
  return `${(own / bare).toFixed(2)}x`;
}
