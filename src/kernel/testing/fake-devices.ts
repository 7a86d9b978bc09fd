/** Devices for tests of the kernel. Each does as little as its name says. */
import type { CallEnd } from "../../abi/call-note.ts";
import type { Act, Caller, Device, FileStat, OpenFile, WritePlan } from "../../abi/device.ts";
import type { Charge, Effect } from "../../abi/effects.ts";
import { DriverError } from "../../abi/errors.ts";
import { abortable } from "../../lib/abort.ts";

function statOf(name: string): FileStat {
  return { name, size: 0, isDevice: true, devicePath: "" };
}

/** A file of bytes per subpath, shared by all; `live` counts open files. */
export class ByteDevice implements Device {
  readonly name = "bytes";
  readonly traffic = "byte";
  readonly files = new Map<string, Uint8Array>();
  readonly closed: string[] = [];
  live = 0;

  async open(subpath: string): Promise<OpenFile> {
    this.live++;
    let at = 0;
    return {
      read: async (length) => {
        const chunk = (this.files.get(subpath) ?? new Uint8Array()).subarray(at, at + length);
        at += chunk.byteLength;
        return chunk;
      },
      write: async (data) => void this.files.set(subpath, data),
      close: async () => {
        this.live--;
        this.closed.push(subpath);
      },
      stat: async () => statOf("bytes"),
    };
  }

  async stat(subpath: string): Promise<FileStat> {
    return { ...statOf("bytes"), size: this.files.get(subpath)?.byteLength ?? 0 };
  }
}

/** The behaviour of a message file that a test can set. */
export interface MessageScript {
  effects: readonly Effect[];
  plan: Partial<WritePlan>;
  charge: () => Charge | undefined;
  ending: () => CallEnd;
  act: (data: Uint8Array, act: Act) => Promise<void>;
  openEffects: readonly Effect[];
  open: (caller: Caller) => Promise<void>;
  close: () => Promise<void>;
}

/** Plans what `script` sets; the answer to a write is the written data. */
export class MessageDevice implements Device {
  readonly name: string;
  readonly traffic = "message";
  readonly written: string[] = [];
  readonly script: MessageScript = {
    effects: [],
    plan: {},
    charge: () => undefined,
    ending: () => ({}),
    act: async () => {},
    openEffects: [],
    open: async () => {},
    close: async () => {},
  };
  live = 0;

  constructor(name = "message") {
    this.name = name;
  }

  openEffects(): readonly Effect[] {
    return this.script.openEffects;
  }

  async open(_subpath: string, _flags: number, caller: Caller): Promise<OpenFile> {
    await this.script.open(caller);
    this.live++;
    let answer: Uint8Array = new Uint8Array();
    return {
      read: async () => answer,
      write: async (data, act) => {
        await this.script.act(data, act);
        answer = data;
        this.written.push(Buffer.from(data).toString());
      },
      close: async () => {
        this.live--;
        await this.script.close();
      },
      stat: async () => statOf(this.name),
      plan: () => ({ effects: this.script.effects, effectClass: "once", ...this.script.plan }),
      charge: () => this.script.charge(),
      ending: () => this.script.ending(),
    };
  }
}

/** Reads and writes wait until they are aborted; with `deaf`, they ignore even that. */
export function hangingDevice(options: { deaf?: boolean } = {}): Device & { live: number } {
  const never = new Promise<never>(() => {});
  const wait = (signal: AbortSignal): Promise<never> =>
    options.deaf === true ? never : abortable(never, signal);
  const device = {
    name: "hanging",
    traffic: "message" as const,
    live: 0,
    async open(): Promise<OpenFile> {
      device.live++;
      return {
        read: (_length, signal) => wait(signal),
        write: (_data, act) => wait(act.signal),
        close: async () => {
          device.live--;
        },
        stat: async () => statOf("hanging"),
      };
    },
  };
  return device;
}

/** A device whose files fail to open. */
export function brokenDevice(
  error: Error = new DriverError({ op: "Open", code: "DRIVER", message: "broken" }),
) {
  return {
    name: "broken",
    traffic: "message",
    open: () => Promise.reject(error),
  } as const satisfies Device;
}
