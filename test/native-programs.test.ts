/** Programs over the binary wire that print much, or whose owner dies: real processes. */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { IpcChunk } from "../src/abi/ipc.ts";
import { FrameClient } from "../src/wire/server/frames/testing.ts";
import { beforeTries } from "./harness/stage.ts";
import { settled, World } from "./harness/world.ts";

const MIB = 1024 * 1024;
const MUCH = 100 * MIB;

interface Spawned {
  readonly pid: number;
  readonly osPid: number;
}

const ENDLESS = ["-re", "-f", "lavfi", "-i", "testsrc=duration=900:size=64x48:rate=10", "-y", "endless.avi"];

let world: World;
let client: FrameClient;
beforeTries(
  async () => {
    world = new World();
    world.settings({ permissions: { allow: [`bash(${["ffmpeg", ...ENDLESS].join(" ")})`] } });
    await world.crux(["ps"]);
    client = await FrameClient.open(world.socket);
  },
  async () => {
    client.socket.destroy();
    await world.close();
  },
);

/** Numbered lines of 9 bytes: what stands at a position is known. */
const counted = (bytes: number): string[] => ["sh", "-c", `seq -w 1 99999999 | head -c ${bytes}`];
const LINE_BYTES = 9;

/** Follows a stream without keeping it, and checks that each byte stands where it belongs. */
class Reader {
  readonly connection: FrameClient;
  readonly #name: string;
  readonly #window: number;
  read = 0;
  readonly gaps: { readonly from: number; readonly to: number }[] = [];
  isOver = false;

  private constructor(connection: FrameClient, name: string, window: number) {
    this.connection = connection;
    this.#name = name;
    this.#window = window;
  }

  /** `window`: it has so much credit, and gives more with `take`. */
  static async of(pid: number, window: number): Promise<Reader> {
    const connection = await FrameClient.open(world.socket);
    await connection.call("kernel.hello", { features: ["streams", "flow"] });
    const asked = { pid, from: "start", filter: "stdout", window };
    const { subscriptions } = await connection.call<{ subscriptions: { stdout: string } }>(
      "process.stream.subscribe",
      asked,
    );
    return new Reader(connection, subscriptions.stdout, window);
  }

  /** Reads what one window lets come. */
  async take(): Promise<void> {
    const { connection } = this;
    const before = this.read;
    await connection.until(() => {
      for (const chunk of connection.chunks.splice(0)) this.#check(chunk);
      connection.messages.length = 0;
      return this.isOver || this.read - before >= this.#window;
    });
    if (!this.isOver)
      await connection.call("stream.credit", { stream: this.#name, bytes: this.read - before });
    connection.responses.length = 0;
  }

  async rest(): Promise<void> {
    while (!this.isOver) await this.take();
  }

  #at = 0;
  #check({ offset, next, data, gap, end }: IpcChunk): void {
    expect(offset).toBe(this.#at);
    this.#at = next;
    if (gap !== undefined) this.gaps.push(gap);
    this.isOver ||= end === true;
    if (data === undefined) return;
    this.read += data.byteLength;
    const skip = (LINE_BYTES - (offset % LINE_BYTES)) % LINE_BYTES;
    const line = Buffer.from(data.subarray(skip, skip + LINE_BYTES)).toString();
    const wanted = `${String((offset + skip) / LINE_BYTES + 1).padStart(8, "0")}\n`;
    expect(wanted.startsWith(line)).toBe(true);
  }

  /** All bytes but those of at most one gap. */
  check(): void {
    expect(this.gaps.length).toBeLessThanOrEqual(1);
    const missed = this.gaps.reduce((sum, { from, to }) => sum + to - from, 0);
    expect([this.#at, this.read + missed]).toEqual([MUCH, MUCH]);
  }
}

const residentMib = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${world.daemonPid}/status`, "utf8"))?.[1]) / 1024;

it("100 MiB to a reader, a slow one and one that reads nothing: none waits for another, in bounded memory", async () => {
  const { pid } = await client.call<Spawned>("process.spawn", { id: randomUUID(), command: counted(MUCH) });
  const [good, slow, idle] = await Promise.all([MIB, 4096, 4096].map((window) => Reader.of(pid, window)));
  if (good === undefined || slow === undefined || idle === undefined) throw new Error("no reader");
  idle.connection.socket.pause();
  const before = residentMib();
  // the slow one reads 4 KiB while the good one reads 1 MiB, however fast the machine is
  while (!good.isOver) await Promise.all([good.take(), slow.take()]);
  expect(residentMib() - before).toBeLessThan(64);
  good.check();
  // the program and its reader have ended while the others stand near the beginning
  expect(slow.isOver).toBe(false);
  expect(slow.read).toBeLessThan(MUCH / 2);
  expect(await client.call("process.wait", { pid })).toMatchObject({ exitCode: 0 });
  const late = await Reader.of(pid, MIB);
  await late.rest();
  late.check();
  // the kernel keeps 64 MiB: who was behind misses one part
  expect(late.gaps).toHaveLength(1);
  idle.connection.socket.resume();
  await Promise.all([idle, slow].map((each) => each.connection.call("kernel.ping")));
  for (const { connection } of [good, slow, idle, late]) connection.socket.destroy();
});

it("the log of a loud program is whole after a kill -9 of the daemon, without its secrets", async () => {
  const token = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
  const script = `while :; do echo ${token}; seq 1 5000; done`;
  const { pid } = await client.call<Spawned>("process.spawn", { id: "loud", command: ["sh", "-c", script] });
  const printed = async (of: FrameClient): Promise<number> => {
    const { streams } = await of.call<{ streams: { stdout: { bytes: number } } }>("process.status", { pid });
    return streams.stdout.bytes;
  };
  await settled(
    () => printed(client),
    (bytes) => bytes > 8 * MIB,
  );
  process.kill(world.daemonPid as number, "SIGKILL");
  await client.closed;
  await world.crux(["ps"]);
  client = await FrameClient.open(world.socket);
  const asked = { pid, from: "start", filter: "stdout" };
  await client.call("process.stream.subscribe", asked);
  const bytes: Buffer[] = [];
  await client.until(() => client.chunks.at(-1)?.end === true);
  for (const { data = new Uint8Array() } of client.chunks.splice(0)) bytes.push(Buffer.from(data));
  const whole = Buffer.concat(bytes).toString().replaceAll(token, "[redacted]");
  const { stdout } = await world.crux(["logs", String(pid), "--tail", "3000"]);
  const log = stdout.replaceAll(/\[redacted:github:[0-9a-f]{6}\]/g, "[redacted]");
  expect(log).not.toContain(token.slice(0, 12));
  expect(log.length).toBeGreaterThan(10_000);
  expect(whole.endsWith(log) || whole.trimEnd().endsWith(log.trimEnd())).toBe(true);
});

const ffmpeg = spawnSync("ffmpeg", ["-version"]).status === 0;

describe.skipIf(!ffmpeg)("the death of an owner (needs ffmpeg)", () => {
  const running = () => world.commands(/ffmpeg.*endless\.avi/);
  type Intent = { id: string; name: string; outcome: string | null };
  const intent = async (wanted: (each: Intent) => boolean) => {
    const { state } = await client.call<{ state: Intent[] }>("event.project", { projection: "intents" });
    return state.findLast(wanted);
  };
  const gone = async (): Promise<void> => {
    expect(await settled(running, ({ length }) => length === 0)).toEqual([]);
  };

  it("crux wrap killed: its ffmpeg ends, and its intent is over", async () => {
    const { head } = await client.call<{ head: number }>("event.subscribe", { events: ["ffmpeg.progress"] });
    const wrap = world.start(["wrap", "--", "ffmpeg", "-hide_banner", ...ENDLESS]);
    const progress = () => client.events.find(({ seq, event }) => seq > head && event === "ffmpeg.progress");
    await client.until(() => progress() !== undefined);
    const pid = progress()?.pid;
    wrap.child.kill("SIGKILL");
    await wrap.done;
    await client.call("process.wait", { pid });
    await gone();
    const ended = (each?: Intent): boolean => each?.outcome !== null;
    expect(await settled(() => intent(({ name }) => name === "ffmpeg"), ended)).toMatchObject({
      outcome: "failed",
    });
    expect(await client.call("process.list", { state: "running" })).toEqual([]);
  });

  it("a wrapper killed: its ffmpeg, what followed it, its claim and its intent go with it", async () => {
    const script = 'echo "$CRUX_IPC_SOCKET $CRUX_IPC_TOKEN"; read line';
    const options = { cwd: world.work, scopes: ["spawn", "device:virtual/*"] };
    const command = ["sh", "-c", script];
    const owner = await client.call<Spawned>("process.spawn", { id: "wrapper", command, options });
    const asked = { pid: owner.pid, filter: "stdout", mode: "line", from: "start" };
    await client.call("process.stream.subscribe", asked);
    const line = () =>
      client.chunks.find(({ pid, lines }) => pid === owner.pid && lines !== undefined)?.lines?.[0];
    await client.until(() => line() !== undefined);
    const [socket = "", token] = (line() ?? "").split(" ");
    const wrapper = await FrameClient.open(socket);
    await wrapper.call("kernel.hello", { token });
    const { intentId } = await wrapper.call<{ intentId: string }>("intent.begin", { name: "transcode" });
    await wrapper.call("device.claim", { device: "virtual/loop0", ttlMs: 3_600_000 });
    const job = { id: "job", command: ["ffmpeg", ...ENDLESS] };
    const { pid } = await wrapper.call<Spawned>("process.spawn", job, { meta: { intentId } });
    await wrapper.call("process.stream.subscribe", { pid, filter: "stderr" });
    await wrapper.until(() => wrapper.chunks.length > 0);
    expect(running().length).toBeGreaterThan(0);
    process.kill(owner.osPid, "SIGKILL");
    expect(await client.call("process.wait", { pid: owner.pid })).toMatchObject({ kind: "killed" });
    // it heeds TERM, with a code of its own
    expect(await client.call("process.wait", { pid })).toMatchObject({ pid });
    await gone();
    expect(await intent(({ id }) => id === intentId)).toMatchObject({ outcome: "failed" });
    const devices = await client.call<{ id: string; claim: unknown }[]>("device.list", {});
    expect(devices.find(({ id }) => id === "virtual/loop0")?.claim).toBeNull();
    // its connection has no right to anything any more, and nothing that it followed comes
    expect((await wrapper.ask("kernel.ping")).fault?.code).toBe("PERMISSION");
    wrapper.socket.destroy();
  });
});
