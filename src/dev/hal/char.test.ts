/** Character devices and lines, over a pair of terminals as the host has them. */
import { execFileSync } from "node:child_process";
import { closeSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ReadStream } from "node:tty";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../lib/time/system-clock.ts";
import { tempFolder } from "../testing.ts";
import { charDriver, serialDriver } from "./char.ts";

const never = new AbortController().signal;

interface Pair {
  /** The end that the driver has. */
  readonly path: string;
  /** What stands at the other end. */
  readonly far: ReadStream;
}

function pair(): Pair {
  const { requireBinary } = createRequire(import.meta.url)("@lydell/node-pty/requireBinary.js");
  const { master, slave, pty: path } = requireBinary("pty.node").open(80, 24);
  const far = new ReadStream(master);
  onTestFinished(() => {
    closeSync(slave);
    far.destroy();
  });
  return { path, far };
}

it("serial: bytes pass unchanged both ways at the speed of the settings; a read that is given up takes nothing", async () => {
  const { path, far } = pair();
  const driver = serialDriver({ id: "tty0", driver: "serial", path, options: { baud: 19_200 } }, systemClock);
  onTestFinished(() => driver.close?.());
  expect(driver.identity).toMatchObject({ kind: "serial", modes: ["read", "write", "stream"] });
  expect(driver.meta()).toMatchObject({
    baud: 19_200,
    dataBits: 8,
    parity: "none",
    stopBits: 1,
    flow: "none",
  });
  const channel = await driver.open(1, true);
  expect(execFileSync("stty", ["-F", path, "speed"]).toString()).toBe("19200\n");
  const stop = new AbortController();
  const given = channel.read(10, {}, stop.signal);
  stop.abort(new Error("enough"));
  await expect(given).rejects.toThrow("enough");
  const heard = new Promise<string>((resolve) => far.once("data", (data) => resolve(data.toString())));
  await channel.write(Buffer.from("AT\r\n\x03"), undefined, never);
  expect(await heard).toBe("AT\r\n\x03");
  far.write("OK\r\n\xff");
  let all = Buffer.alloc(0);
  while (all.byteLength < 6) all = Buffer.concat([all, (await channel.read(3, {}, never)).data]);
  expect(all).toEqual(Buffer.from("OK\r\n\xff"));
  await channel.close();
});

it("char: a device of the host is read and written; another file, and one that is missing, is refused", async () => {
  const zero = charDriver({ id: "zero", driver: "char", path: "/dev/zero", kind: "sensor" }, systemClock);
  const open = (path: string) => {
    const driver = charDriver({ id: "x", driver: "char", path, options: { readOnly: true } }, systemClock);
    onTestFinished(() => driver.close?.());
    expect(driver.identity.modes).toEqual(["read", "stream"]);
    return driver.open(1, false);
  };
  onTestFinished(() => zero.close?.());
  expect(zero.identity).toMatchObject({ kind: "sensor", driver: "char" });
  const channel = await zero.open(1, true);
  expect(await channel.read(4, {}, never)).toEqual({ data: Buffer.alloc(4), isEnd: false });
  await channel.write(Buffer.from("x"), undefined, never);
  await channel.close();
  const end = await open("/dev/null");
  expect(await end.read(4, {}, never)).toEqual({ data: Buffer.alloc(0), isEnd: true });
  await end.close();
  const file = join(tempFolder(), "f");
  writeFileSync(file, "text");
  await expect(open(file)).rejects.toMatchObject({ code: "INVALID" });
  await expect(open(join("/dev", "no-such-device"))).rejects.toMatchObject({ code: "NOT_FOUND" });
});
