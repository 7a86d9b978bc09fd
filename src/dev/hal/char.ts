/**
 * A character device of the host, whose bytes come and go as its hardware gives and takes them; a `serial` one is a terminal
 * line, which is set to its speed and to raw mode first. Its file never blocks and is looked at again and again, so that no
 * thread of the daemon waits for hardware.
 */
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Clock } from "../../abi/program.ts";
import type { CharSetting, SerialSetting } from "../../abi/settings/devices.ts";
import type { HalChannel, HalDriver, HalPiece, HalReading } from "../../kernel/ports/hal.ts";
import { driverError, errnoOf, type FileOp, hostError } from "../driver-error.ts";
import { findSystemProgram } from "../program.ts";
import { present } from "./place.ts";

/** How often it is looked whether there is something to read, or room for what is written. */
const LOOK_MS = 10;
const READ_BYTES = 65_536;
/** What sets a line is given up then: a broken driver may hold it. */
const SET_MS = 5_000;

type Time = Pick<Clock, "sleep">;

export function charDriver(
  { id, path, kind = "virtual", options = {} }: CharSetting,
  clock: Time,
): HalDriver {
  const { readOnly = false } = options;
  return {
    identity: { id, kind, name: path, driver: "char", modes: modes(readOnly) },
    isHarmless: false,
    meta: () => ({ readOnly }),
    ...present(path, clock),
    open: async (_fence, canWrite) => new CharChannel(await opened(path, canWrite), path, clock),
  };
}

export function serialDriver(line: SerialSetting, clock: Time): HalDriver {
  const { id, path, kind = "serial", options = {} } = line;
  const {
    baud = 9_600,
    dataBits = 8,
    parity = "none",
    stopBits = 1,
    flow = "none",
    readOnly = false,
  } = options;
  const set = { baud, dataBits, parity, stopBits, flow };
  return {
    identity: { id, kind, name: path, driver: "serial", modes: modes(readOnly) },
    isHarmless: false,
    meta: () => ({ ...set, readOnly }),
    ...present(path, clock),
    async open(_fence, canWrite) {
      const file = await opened(path, canWrite);
      try {
        await setLine(path, set);
        return new CharChannel(file, path, clock);
      } catch (error) {
        await file.close();
        throw error;
      }
    },
  };
}

function modes(readOnly: boolean): ("read" | "write" | "stream")[] {
  return readOnly ? ["read", "stream"] : ["read", "write", "stream"];
}

/** INVALID: another kind of file. A terminal does not become that of the daemon. */
async function opened(path: string, canWrite: boolean): Promise<FileHandle> {
  const { O_RDONLY, O_RDWR, O_NONBLOCK, O_NOCTTY } = constants;
  let file: FileHandle | undefined;
  try {
    file = await open(path, (canWrite ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY);
    if ((await file.stat()).isCharacterDevice()) return file;
  } catch (error) {
    await file?.close();
    throw hostError("Open", path, error);
  }
  await file.close();
  throw driverError("Open", "INVALID", `not a character device: ${path}`);
}

interface Line {
  readonly baud: number;
  readonly dataBits: number;
  readonly parity: "none" | "even" | "odd";
  readonly stopBits: number;
  readonly flow: "none" | "rtscts" | "xonxoff";
}

/** By `stty`, which every host has. DRIVER: the line cannot be set so. */
function setLine(path: string, { baud, dataBits, parity, stopBits, flow }: Line): Promise<void> {
  const on = (is: boolean, name: string): string => `${is ? "" : "-"}${name}`;
  const words = ["raw", "-echo", "clocal", String(baud), `cs${dataBits}`, on(stopBits === 2, "cstopb")];
  words.push(on(parity !== "none", "parenb"), on(parity === "odd", "parodd"));
  words.push(
    on(flow === "rtscts", "crtscts"),
    on(flow === "xonxoff", "ixon"),
    on(flow === "xonxoff", "ixoff"),
  );
  const args = [process.platform === "linux" ? "-F" : "-f", path, ...words];
  return new Promise((resolve, reject) => {
    execFile(findSystemProgram("stty") ?? "stty", args, { timeout: SET_MS }, (error, _out, said) => {
      if (error === null) resolve();
      else reject(driverError("Open", "DRIVER", `the line cannot be set: ${said.trim() || error.message}`));
    });
  });
}

class CharChannel implements HalChannel {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #clock: Time;
  /** What a read has taken that was given up meanwhile. */
  #rest = Buffer.alloc(0);

  constructor(file: FileHandle, path: string, clock: Time) {
    this.#file = file;
    this.#path = path;
    this.#clock = clock;
  }

  async read(length: number, _reading: HalReading, signal: AbortSignal): Promise<HalPiece> {
    signal.throwIfAborted();
    let isEnd = false;
    while (this.#rest.byteLength === 0 && !isEnd) {
      const buffer = Buffer.alloc(Math.min(length, READ_BYTES));
      const { bytesRead } = await this.#when("Read", signal, () =>
        this.#file.read(buffer, 0, buffer.length, null),
      );
      this.#rest = buffer.subarray(0, bytesRead);
      isEnd = bytesRead === 0;
      signal.throwIfAborted();
    }
    const data = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(data.byteLength);
    return { data, isEnd };
  }

  async write(data: Uint8Array, _offset: number | undefined, signal: AbortSignal): Promise<void> {
    for (let at = 0; at < data.byteLength; ) {
      signal.throwIfAborted();
      const rest = data.subarray(at);
      at += (await this.#when("Write", signal, () => this.#file.write(rest, 0, rest.byteLength, null)))
        .bytesWritten;
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** Tries again while the device has nothing to give, or no room. */
  async #when<T>(op: FileOp, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (errnoOf(error) !== "EAGAIN") throw hostError(op, this.#path, error);
      }
      await this.#clock.sleep(LOOK_MS, signal);
    }
  }
}
