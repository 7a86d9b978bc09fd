import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Fault } from "../abi/errors.ts";
import type { SpawnRequest } from "../abi/methods.ts";
import { PERMISSION_MODES } from "../abi/process.ts";
import type { ProgressPayload, WireStreamLine } from "../abi/wire.ts";
import { type Args, countFlag, RUN_FLAGS, textFlag } from "./args.ts";
import { AskDialog } from "./ask-dialog.ts";
import type { Call, Command } from "./command.ts";
import { CONFIGURE_LINES } from "./configure-help.ts";
import { daemonVanished } from "./daemon-vanished.ts";
import type { Host, Output } from "./host.ts";
import { findIntent } from "./intent.ts";
import { RunInterrupt } from "./run-interrupt.ts";
import { RunView } from "./run-view.ts";
import { invalid } from "./screen/errors.ts";
import { spawnLine } from "./screen/run-lines.ts";
import { safeLine } from "./screen/safe-text.ts";

/** `crux <intent…>`: starts a process and follows it to its end. */
export const run: Command = { flags: RUN_FLAGS, run: start };

async function start(call: Call): Promise<number> {
  const { args, console, host } = call;
  const options = requestOptions(args, host);
  const intent = await findIntent(args, host.stdin);
  if (intent === undefined) {
    const { help } = await import("./help.ts");
    return help.run(call);
  }
  const isDetached = args.flags.has("detach");
  const terminal = isDetached ? undefined : questionTerminal(call);
  const request: SpawnRequest = { intent, ...options };
  if (isDetached) return detach(call, { ...request, detach: true });
  await using interrupt = new RunInterrupt(host, console);
  // awaited here: its Ctrl-C must be ours until the end
  return await follow(
    call,
    terminal === undefined ? request : { ...request, interactive: true },
    terminal,
    interrupt,
  );
}

/** All of the request but the intent. What is not set is left to the agent file and the settings. */
function requestOptions(args: Args, host: Host): Omit<SpawnRequest, "intent"> {
  const agent = textFlag(args, "agent");
  const model = textFlag(args, "model");
  const maxSteps = countFlag(args, "max-steps");
  const budget = countFlag(args, "budget");
  const mode = permissionMode(args);
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(maxSteps === 0 ? {} : { max_steps: maxSteps }),
    ...(budget === 0 ? {} : { budget }),
    ...(mode === undefined ? {} : { permission_mode: mode }),
    cwd: workingDirectory(args, host),
    env: environment(host.env),
    // elapsed time, notice, tool and log lines come only to clients that ask for them
    verbose: true,
  };
}

function permissionMode(args: Args): string | undefined {
  const mode = textFlag(args, "permission-mode");
  if (mode === undefined || PERMISSION_MODES.some((known) => known === mode)) return mode;
  throw invalid(`unknown permission mode: ${mode}`, `modes: ${PERMISSION_MODES.join(", ")}`);
}

function workingDirectory(args: Args, host: Host): string {
  const given = textFlag(args, "cwd");
  if (given === undefined) return host.cwd;
  const path = resolve(host.cwd, given);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new Fault({ code: "NOT_FOUND", message: `directory not found: ${given}` });
}

/** A process started from here must not take our place at the socket, or our token. */
function environment(env: Host["env"]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !/^(?:CRUX|KAIRO)_IPC_/.test(name)) kept[name] = value;
  return kept;
}

/** Where questions can be put: a terminal that a person reads and types at, and that no script parses. */
function questionTerminal({ console, host }: Call): Output | undefined {
  if (host.stdin.isTTY !== true) return undefined;
  if (host.stderr.isTTY === true) return host.stderr;
  const isScreen = console.mode === "default" || console.mode === "verbose";
  return isScreen && host.stdout.isTTY === true ? host.stdout : undefined;
}

async function detach({ console, host }: Call, request: SpawnRequest): Promise<number> {
  const client = await host.daemon.ensure();
  const { pid, notice } = await client.request("spawn", request);
  client.close();
  if (notice !== undefined) await console.aside(safeLine(notice));
  if (console.mode === "json") await console.data({ pid });
  else await console.line(console.mode === "quiet" ? String(pid) : spawnLine(pid));
  if (notice !== undefined) for (const line of CONFIGURE_LINES) await console.aside(line);
  return 0;
}

async function follow(
  call: Call,
  request: SpawnRequest,
  terminal: Output | undefined,
  interrupt: RunInterrupt,
): Promise<number> {
  const { abandoned } = interrupt;
  try {
    const client = await call.host.daemon.ensure(abandoned);
    interrupt.spawning();
    const stream = await client.stream("spawn", request, abandoned);
    const close = (): void => stream.close();
    abandoned.addEventListener("abort", close);
    interrupt.spawned(stream.response.pid);
    try {
      return await showToEnd(call, stream.lines, terminal);
    } finally {
      abandoned.removeEventListener("abort", close);
      stream.close();
    }
  } catch (error) {
    if (abandoned.aborted) return 130;
    throw error;
  }
}

/** The exit code of the process. Rejects when the stream breaks off. */
async function showToEnd(
  { console, host }: Call,
  lines: AsyncIterable<WireStreamLine>,
  terminal: Output | undefined,
): Promise<number> {
  const view = new RunView(console, host.stdout.isTTY === true);
  await using dialog = terminal === undefined ? undefined : openDialog({ console, host }, terminal);
  for await (const { payload } of lines) {
    const event = payload as ProgressPayload;
    if (event.event === "ask") dialog?.ask(event);
    else if (event.event === "ask_closed") dialog?.close(event);
    else await view.show(event);
    if (event.event === "complete") return event.exit_code ?? 0;
  }
  throw daemonVanished();
}

function openDialog({ console, host }: Pick<Call, "console" | "host">, terminal: Output): AskDialog {
  return new AskDialog({
    input: host.stdin,
    onInterrupt: () => {
      // as the terminal itself shows it outside of raw mode, and what comes next begins a line
      terminal.write("^C\n", () => {});
      host.interrupts.raise();
    },
    write: (text) => new Promise((done) => void terminal.write(text, done)),
    answer: async (askId, answer) => {
      try {
        const client = await host.daemon.find();
        await client?.request("ask.answer", { ask_id: askId, answer });
        client?.close();
      } catch (error) {
        await console.fail(error);
      }
    },
  });
}
