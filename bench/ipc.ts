/**
 * What processes cost each other, in one run:
 *   node bench/ipc.ts
 * Messages: two agents' handles on a kernel with the real journal on disk, so each send is synced before it resolves; the
 * baseline is a bare append and fdatasync of the same bytes. Pipes: 64 KiB writes from one handle to another; the
 * baseline is the same chunks through node:stream's PassThrough with the same bound.
 * The binary wire, on a daemon of its own (npm run build first): pings one after another against an echo of the same bytes by
 * another process, pings without waiting, and the output of a program against the same program at a pipe of Node.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { Syscalls } from "../src/abi/sys.ts";
import { TestKernel } from "../src/kernel/testing/test-kernel.ts";
import { systemClock } from "../src/lib/time/system-clock.ts";
import { openJournal } from "../src/store/sqlite/open-journal.ts";
import { wireRows } from "./parts/binary-wire.ts";
import { printTable, type Row } from "./table.ts";

const MESSAGES = Number(process.env.CRUX_BENCH_MESSAGES ?? 20_000);
const SYNCED = 1_000;
const MESSAGE_BYTES = 200;
const IN_FLIGHT = 256;
const PIPE_BYTES = Number(process.env.CRUX_BENCH_PIPE_MB ?? 512) * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

const dir = mkdtempSync(join(tmpdir(), "crux-bench-"));
const journal = await openJournal({ dir: join(dir, "journal"), clock: systemClock });
const t = new TestKernel({ journal, clock: systemClock });
const rows: Row[] = [];
try {
  const parent = await t.start();
  const child = await t.start({ by: parent.sys });
  await messages("one after another", SYNCED, 1, parent.sys, child.sys);
  await messages(`${IN_FLIGHT} in flight`, MESSAGES, IN_FLIGHT, parent.sys, child.sys);
  await pipe(parent.sys, parent.sys, child.sys);
  parent.end();
  child.end();
} finally {
  await t.kernel.shutdown(1_000);
  await journal.close();
  rmSync(dir, { recursive: true, force: true });
}
rows.push(...(await wireRows()));
printTable(["what", "figure", "baseline", "ratio"], rows);

async function messages(
  how: string,
  count: number,
  inFlight: number,
  from: Syscalls,
  to: Syscalls,
): Promise<void> {
  const data = new Uint8Array(MESSAGE_BYTES).fill(97);
  const target = to.getPid();
  const began = performance.now();
  const received = (async () => {
    for (let n = 0; n < count; n++) await to.recv();
  })();
  for (let sent = 0; sent < count; sent += inFlight)
    await Promise.all(
      Array.from({ length: Math.min(inFlight, count - sent) }, () => from.send(target, data)),
    );
  await received;
  const own = count / ((performance.now() - began) / 1000);
  const bare = await bareAppends(count, inFlight);
  rows.push([
    `messages a second, ${how}`,
    own.toFixed(0),
    `${bare.toFixed(0)} bare append + fdatasync`,
    `${(own / bare).toFixed(2)}x`,
  ]);
}

/** As many appended lines a second, `batch` of them to one sync. */
async function bareAppends(count: number, batch: number): Promise<number> {
  const file = await open(join(dir, "bare"), "w");
  const line = Buffer.alloc(MESSAGE_BYTES, 97);
  const began = performance.now();
  for (let done = 0; done < count; done += batch) {
    for (let n = 0; n < batch; n++) await file.write(line);
    await file.datasync();
  }
  const rate = count / ((performance.now() - began) / 1000);
  await file.close();
  return rate;
}

async function pipe(caller: Syscalls, writer: Syscalls, reader: Syscalls): Promise<void> {
  const { writeFd, readFd } = await caller.pipe(writer.getPid(), reader.getPid());
  const chunk = new Uint8Array(CHUNK_BYTES).fill(97);
  const began = performance.now();
  const sink = (async () => {
    let bytes = 0;
    for (;;) {
      const got = await reader.read(readFd, CHUNK_BYTES);
      if (got.byteLength === 0) return bytes;
      bytes += got.byteLength;
    }
  })();
  for (let sent = 0; sent < PIPE_BYTES; sent += CHUNK_BYTES) await writer.write(writeFd, chunk);
  await writer.close(writeFd);
  const bytes = await sink;
  if (bytes !== PIPE_BYTES) throw new Error(`${bytes} of ${PIPE_BYTES} bytes arrived`);
  const own = PIPE_BYTES / 1e6 / ((performance.now() - began) / 1000);
  const bare = await passThrough(chunk);
  rows.push([
    "pipe, MB a second",
    own.toFixed(0),
    `${bare.toFixed(0)} PassThrough`,
    `${(own / bare).toFixed(2)}x`,
  ]);
}

async function passThrough(chunk: Uint8Array): Promise<number> {
  const stream = new PassThrough({ highWaterMark: CHUNK_BYTES });
  const began = performance.now();
  const sink = (async () => {
    let bytes = 0;
    for await (const got of stream) bytes += (got as Buffer).byteLength;
    return bytes;
  })();
  for (let sent = 0; sent < PIPE_BYTES; sent += CHUNK_BYTES)
    // a copy, as a kernel must make one: the writer keeps its buffer
    if (!stream.write(chunk.slice())) await new Promise((resolve) => stream.once("drain", resolve));
  stream.end();
  await sink;
  return PIPE_BYTES / 1e6 / ((performance.now() - began) / 1000);
}
