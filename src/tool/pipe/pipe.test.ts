import { expect, test } from "vitest";
import { asCallId, asFd, asPid } from "../../abi/ids.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { testScope } from "../testing/bench.ts";
import type { Outcome } from "../tool.ts";
import { pipe } from "./pipe.ts";

const FDS = JSON.stringify([
  { fd: 3, path: "/dev/llm/script", flags: 2 },
  { fd: 7, path: "pipe:[1]", flags: 0 },
]);
const LIST = asFd(99);
const bytes = (text: string) => new TextEncoder().encode(text);
const never = (_: unknown, signal?: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));

/** The process 5, with its list of files. */
function bench(more: Partial<Record<keyof Syscalls, unknown>> = {}) {
  const calls: unknown[] = [];
  let listed = false;
  const sys = {
    open: async (path: string) => {
      calls.push(["open", path]);
      listed = false;
      return LIST;
    },
    read: async (fd: number) => {
      if (fd === LIST) {
        const rest = listed ? bytes("") : bytes(FDS);
        listed = true;
        return rest;
      }
      return bytes("words");
    },
    write: async (fd: number, data: Uint8Array) => void calls.push(["write", fd, data.byteLength]),
    close: async (fd: number) => void (fd === LIST || calls.push(["close", fd])),
    pipe: async (writer: number, reader: number) => {
      calls.push(["pipe", writer, reader]);
      return { writeFd: 8, readFd: 9 };
    },
    send: async (pid: number, data: Uint8Array) =>
      void calls.push(["send", pid, new TextDecoder().decode(data)]),
    sleep: never,
    ...more,
  } as unknown as Syscalls;
  const call = (args: object): Promise<Outcome> => {
    const scope = testScope("/w");
    const { signal } = new AbortController();
    const rest = { signal, pid: asPid(5), callId: asCallId("c_1"), now: () => 0, progress: () => {} };
    return pipe.bind(args, scope).run({ ...scope, ...rest, sys });
  };
  return { call, calls };
}

test("open puts the ends into both processes, and tells those that are others", async () => {
  const { call, calls } = bench();
  expect((await call({ op: "open", from: 12 })).meta).toEqual({ write_fd: 8, read_fd: 9, state: "open" });
  expect(calls).toEqual([
    ["pipe", 12, 5],
    ["send", 12, expect.stringContaining("write to fd 8")],
  ]);
});

test("reads, writes and closes an end; nothing else", async () => {
  const { call, calls } = bench();
  expect((await call({ op: "read", fd: 7 })).text).toBe("words");
  expect((await call({ op: "write", fd: 7, data: "é" })).text).toBe("Wrote 2 bytes.");
  expect((await call({ op: "close", fd: 7 })).text).toBe("fd 7 is closed.");
  await expect(call({ op: "read", fd: 3 })).rejects.toMatchObject({ code: "INVALID" });
  await expect(call({ op: "write", fd: 8, data: "x" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(calls.filter((each) => (each as string[])[0] !== "open")).toEqual([
    ["write", 7, 2],
    ["close", 7],
  ]);
});

test("the end of the writer, and a wait that is too long, are said", async () => {
  let lists = 0;
  const { call } = bench({
    read: async (fd: number) => (fd === LIST && lists++ === 0 ? bytes(FDS) : bytes("")),
  });
  expect((await call({ op: "read", fd: 7 })).meta).toEqual({ fd: 7, state: "ended" });
  const late = bench({ sleep: async () => "timer", write: never });
  expect((await late.call({ op: "write", fd: 7, data: "x" })).meta).toEqual({ fd: 7, state: "waiting" });
  await expect(call({ op: "read" })).rejects.toMatchObject({ code: "INVALID" });
});

test("declares the message to each process that gets an end", () => {
  const effects = (args: object) => pipe.bind(args, testScope("/w")).effects;
  const own = { kind: "state", path: "/proc/self/fd" };
  expect(effects({ op: "open", from: 12, to: 13 })).toEqual([
    own,
    { kind: "message", to: "12" },
    { kind: "message", to: "13" },
  ]);
  expect(effects({ op: "read", fd: 7 })).toEqual([own]);
});
