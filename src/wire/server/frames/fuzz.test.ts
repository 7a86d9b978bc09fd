/** Broken frames beside a connection that works. `CRUX_IPC_FRAMES` sets how many; `npm run fuzz:ipc` makes a million. */
import { once } from "node:events";
import * as net from "node:net";
import { expect, it } from "vitest";
import { IPC_SAMPLES } from "../../../abi/docs/ipc-samples.ts";
import { FRAME, PACKET } from "../../../abi/ipc.ts";
import { testKernel } from "../../../kernel/testing/test-kernel.ts";
import type { VirtualClock } from "../../../kernel/testing/virtual-clock.ts";
import { packFrame } from "../../codec/msgpack.ts";
import { ServerFixture, until } from "../testing/fixture.ts";
import { FrameClient } from "./testing.ts";

const FRAMES = Number(process.env.CRUX_IPC_FRAMES ?? 5_000);
/** Each batch has a connection of its own. */
const BATCH = 100;
/** What a kernel has recorded takes longer to look through. */
const OF_A_KERNEL = 5_000;
/** In so many turns of the loop all is answered that waits for nothing. */
const TURNS = 2_000;
/** More than any request of the examples waits for. */
const WAIT_MS = 120_000;

/** The same numbers in every run. */
let state = 7;
function below(limit: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (state >>> 8) % limit;
}

const GOOD = Object.entries(IPC_SAMPLES).map(([method, params], n) =>
  packFrame(PACKET.request, { id: `f${n}`, method, params }),
);

/** Some bytes of the payload are others; in a few, bytes of the header, which ends the connection, or the end is missing. */
function mutated(): Buffer {
  const frame = Buffer.from(GOOD[below(GOOD.length)] as Buffer);
  const from = below(200) === 0 ? 0 : FRAME.headerBytes;
  for (let left = 1 + below(4); left > 0; left--) frame[from + below(frame.length - from)] = below(256);
  return below(500) === 0 ? frame.subarray(0, below(frame.length)) : frame;
}

it(`${FRAMES} mutated frames: each connection is answered or closed, and a good one beside them notices nothing`, {
  timeout: 600_000 + FRAMES,
}, async () => {
  for (let made = 0; made < FRAMES; made += OF_A_KERNEL) await fuzz(Math.min(OF_A_KERNEL, FRAMES - made));
});

/** Until it is closed. What was asked may wait for a time, or without a limit for the end of a program: then it leaves. */
async function left(bad: net.Socket, clock: VirtualClock): Promise<void> {
  const closed = once(bad, "close");
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  for (let turns = 0; !isClosed; turns++) {
    if (turns > TURNS) await clock.advance(WAIT_MS);
    if (turns > TURNS + 1) bad.destroy();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function fuzz(frames: number): Promise<void> {
  const t = testKernel();
  const fixture = new ServerFixture();
  fixture.options = { kernel: t.kernel, clock: t.clock };
  await fixture.start();
  const good = await FrameClient.open(fixture.socketPath);
  try {
    for (let made = 0; made < frames; made += BATCH) {
      const bad = net.connect({ path: fixture.socketPath });
      bad.on("error", () => {});
      bad.resume();
      bad.end(Buffer.concat(Array.from({ length: BATCH }, mutated)));
      expect(await good.call("kernel.ping", { payload: made })).toMatchObject({ payload: made });
      await left(bad, t.clock);
    }
    expect(fixture.logged.filter((line) => line.startsWith("error"))).toEqual([]);
    await until(() => fixture.server.connections === 1);
  } finally {
    good.socket.destroy();
    await fixture.close();
  }
}
