import { basename } from "node:path/posix";
import { Fault } from "../../../abi/errors.ts";
import type { RequestMeta } from "../../../abi/ipc.ts";
import type { IpcParams, IpcResult } from "../../../abi/methods/ipc/methods.ts";
import { SIGNALS, type Signal } from "../../../abi/process.ts";
import type { KernelClient, Output } from "../../../wire/client/kernel.ts";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { type Args, pairsFlag, textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { Host } from "../../host/host.ts";
import { invalid } from "../../screen/errors.ts";
import { oneLine } from "../../screen/text/json.ts";
import type { Output as Writable } from "../../terminal/streams.ts";

const USAGE = "crux exec [-it] [-e NAME[=VALUE]]… -- <command> [args…]";
/** As shells say it. */
const NOT_STARTED: Partial<Record<string, number>> = { NOT_FOUND: 127, PERMISSION: 126 };

/**
 * Runs a program of the host as a process of the kernel, with the streams of this command; ends as the program does. The
 * program ends with this command, too.
 */
export const exec: Command = {
  flags: {
    interactive: { type: "boolean", short: "i" },
    tty: { type: "boolean", short: "t" },
    env: { type: "string", short: "e" },
    name: { type: "string" },
  },
  run: (call) => runProgram(call, USAGE),
};

/** What is done around a program. */
export interface Wrapping {
  /** Before it is started: what the request for it carries. */
  begin(kernel: KernelClient): Promise<RequestMeta>;
  /** For as long as it runs. */
  beside(kernel: KernelClient, pid: number): Promise<void>;
  /** `exit` undefined: it could not be started or followed to its end. */
  over(kernel: KernelClient, exit: IpcResult<"process.wait"> | undefined): Promise<void>;
}

export async function runProgram(call: Call, usage: string, wrapping?: Wrapping): Promise<number> {
  const { args, console, host } = call;
  const params = spawnParams(args, host, usage);
  const kernel = await host.daemon.kernel(wrapping === undefined ? [] : ["cancel"]);
  let exit: IpcResult<"process.wait"> | undefined;
  try {
    const { pid, id } = await kernel.call("process.spawn", params, await wrapping?.begin(kernel));
    if (console.mode === "json") await console.line(oneLine({ event: "started", pid, id }));
    if (console.mode === "verbose") await console.errorLine(`[exec] PID ${pid}`);
    using _joined = join(kernel, pid, call);
    const passing = pass(await kernel.output(pid), call);
    await Promise.all([passing, wrapping?.beside(kernel, pid)]);
    exit = await ending(kernel, pid, call);
    return exit.exitCode;
  } catch (error) {
    const code = error instanceof WireFault ? NOT_STARTED[error.code] : undefined;
    if (code === undefined) throw error;
    await console.fail(error);
    return code;
  } finally {
    await wrapping?.over(kernel, exit);
    kernel.close();
  }
}

function spawnParams(args: Args, host: Host, usage: string): IpcParams<"process.spawn"> {
  const { behind: command = [], words } = args;
  const [program = ""] = command;
  if (program === "" && words.length > 0)
    throw invalid(`-- is missing before the command: ${words.join(" ")}`, usage);
  if (program === "") throw invalid("a command is missing", usage);
  if (words.length > command.length) throw invalid(`unknown argument: ${words[0]}`, usage);
  const { randomUUID } = process.getBuiltinModule("node:crypto");
  const name = basename(program)
    .replaceAll(/[^A-Za-z0-9._-]/g, "-")
    .slice(0, 64);
  return {
    id: textFlag(args, "name") ?? `exec:${name}:${randomUUID().slice(0, 8)}`,
    command: [...command],
    options: {
      cwd: host.cwd,
      env: pairsFlag(args, "env", host.env),
      ...(args.flags.has("tty")
        ? { pty: { ...sizeOf(host.stdout), term: host.env.TERM || "xterm-256color" } }
        : {}),
      stdin: args.flags.has("interactive") ? "pipe" : "null",
      onSpoolFull: "block",
      onDisconnect: "terminate",
    },
  };
}

function sizeOf({ columns, rows }: Writable): { cols: number; rows: number } {
  const within = (count: number): number => Math.min(count, 1_000);
  return { cols: within(columns || 80), rows: within(rows || 24) };
}

/** Input, signals, keys and the size of the terminal go to the program until this is disposed. */
function join(kernel: KernelClient, pid: number, { args, host }: Call): Disposable {
  const stack = new DisposableStack();
  const { stdin, stdout, lifecycle } = host;
  const tell = (signal: Signal) => (): void => {
    kernel.call("process.kill", { pid, signal }).catch(() => {});
  };
  stack.defer(host.interrupts.listen(tell(SIGNALS.SIGINT)));
  stack.defer(lifecycle.onTerminate(tell(SIGNALS.SIGTERM)));
  const turn = (method: "process.pause" | "process.resume"): Promise<void> =>
    kernel.call(method, { pid }).then(
      () => {},
      () => {},
    );
  stack.defer(
    lifecycle.onStop(
      () => turn("process.pause"),
      () => void turn("process.resume"),
    ),
  );
  if (args.flags.has("tty")) {
    const resize = (): void => {
      kernel.call("process.pty.resize", { pid, ...sizeOf(stdout) }).catch(() => {});
    };
    stdout.on?.("resize", resize);
    stack.defer(() => void stdout.off?.("resize", resize));
    if (stdin.isTTY === true && args.flags.has("interactive")) {
      const cook = (): void => void stdin.setRawMode?.(false);
      stack.defer(cook);
      stack.defer(lifecycle.onEnd(cook));
      stdin.setRawMode?.(true);
    }
  }
  // without -i it belongs to others: in a loop of a shell, to the `read` that comes next
  if (args.flags.has("interactive")) stack.use(feed(kernel, pid, host));
  return stack;
}

/** stdin, no faster than the program reads it. A program that reads no more hears no more. */
function feed(kernel: KernelClient, pid: number, { stdin }: Pick<Host, "stdin">): Disposable {
  const leave = (): void => {
    stdin.off("data", take);
    stdin.off("end", end);
    stdin.off("error", end);
    stdin.pause();
  };
  const take = (data: Buffer): void => {
    stdin.pause();
    kernel.call("process.stdin.write", { pid, data: new Uint8Array(data) }).then(() => stdin.resume(), leave);
  };
  const end = (): void => {
    kernel.call("process.stdin.write", { pid, data: "", eof: true }).catch(() => {});
  };
  stdin.on("data", take);
  stdin.on("end", end);
  stdin.on("error", end);
  stdin.resume();
  return { [Symbol.dispose]: leave };
}

/** Resolves when both streams have ended and everything was written. */
async function pass({ stdout, stderr }: Output, { console, host }: Call): Promise<void> {
  const streams = [
    ["stdout", stdout, host.stdout],
    ["stderr", stderr, host.stderr],
  ] as const;
  await Promise.all(
    streams.map(async ([name, chunks, output]) => {
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      const line = (text: string): Promise<void> =>
        text === "" ? Promise.resolve() : console.line(oneLine({ event: name, text }));
      for await (const { data = new Uint8Array() } of chunks ?? [])
        if (console.mode === "json") await line(decoder.decode(data, { stream: true }));
        else await put(output, data);
      if (console.mode === "json") await line(decoder.decode());
    }),
  );
}

function put(output: Writable, data: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    output.write(data, () => resolve());
  });
}

/** How the program has ended. DRIVER: the disk took not all of its output. */
async function ending(
  kernel: KernelClient,
  pid: number,
  { console }: Call,
): Promise<IpcResult<"process.wait">> {
  const exit = await kernel.call("process.wait", { pid });
  const { exitCode, signal, reason } = exit;
  const { streams } = await kernel.call("process.status", { pid });
  const lost = streams.stdout.droppedBytes + streams.stderr.droppedBytes;
  if (lost > 0)
    throw new Fault({
      code: "DRIVER",
      message: `${lost} bytes of its output were lost: the disk took no more`,
    });
  if (console.mode === "json")
    await console.line(oneLine({ event: "exited", pid, exit_code: exitCode, signal, reason }));
  return exit;
}
