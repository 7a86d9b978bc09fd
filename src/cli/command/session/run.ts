import type { SpawnRequest } from "../../../abi/methods/process.ts";
import type { WireStreamLine } from "../../../abi/wire.ts";
import type { WireEvent } from "../../../abi/wire-events.ts";
import { RUN_FLAGS } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { openDialog, questionTerminal } from "../../dialog/questions.ts";
import { settleTrust } from "../../dialog/trust-question.ts";
import { CONFIGURE_LINES } from "../../run/configure-help.ts";
import { findData, findIntent } from "../../run/intent.ts";
import { refuseLoneWord } from "../../run/intent-words.ts";
import { RunInterrupt } from "../../run/run-interrupt.ts";
import { callsWish, requestOptions, workingDirectory } from "../../run/run-options.ts";
import { RunView } from "../../run/run-view.ts";
import { refuseUnknownSkill } from "../../run/slash.ts";
import { isResultAlone } from "../../run/stdio.ts";
import { tellSandbox } from "../../run/tell-sandbox.ts";
import { spawnLine } from "../../screen/run-lines.ts";
import { safeLine } from "../../screen/text/safe-text.ts";
import type { Output } from "../../terminal/streams.ts";

/** `crux <intent…>`: starts a process and follows it to its end. */
export const run: Command = { flags: RUN_FLAGS, run: start };

async function start(call: Call): Promise<number> {
  const { args, console, host } = call;
  if (args.flags.has("continue") || args.flags.has("resume")) return (await import("./chat.ts")).goOn(call);
  const options = requestOptions(args, host);
  const intent = await findIntent(args, host.stdin);
  if (intent === undefined) {
    if (isAtTerminal(call)) return (await import("./chat.ts")).chat.run(call);
    const { help } = await import("../itself/help.ts");
    return help.run(call);
  }
  const data = args.words.length === 0 ? undefined : await findData(host, console);
  if (data === undefined) refuseLoneWord(args);
  if ((await settleTrust(call, workingDirectory(args, host))) === "interrupted") return 130;
  await refuseUnknownSkill(host.daemon, workingDirectory(args, host), intent);
  const isDetached = args.flags.has("detach");
  const terminal = isDetached ? undefined : questionTerminal(call);
  const stdin = data === undefined ? {} : { stdin: { base64: data.toString("base64") } };
  const request: SpawnRequest = { intent, ...options, ...stdin };
  if (isDetached) return detach(call, { ...request, detach: true });
  await using interrupt = new RunInterrupt(host, console);
  // awaited here, so that Ctrl-C stays handled here until the end
  return await follow(
    call,
    { ...request, ...callsWish(call.console), ...(terminal === undefined ? {} : { interactive: true }) },
    terminal,
    interrupt,
  );
}

function isAtTerminal({ args, console, host }: Call): boolean {
  const isThere = host.stdin.isTTY === true && host.stdout.isTTY === true;
  return isThere && console.isScreen && !args.flags.has("detach");
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
    await tellSandbox(call, stream.response.sandbox);
    try {
      const code = await showToEnd(call, stream.lines, terminal, interrupt);
      return interrupt.isInsisted ? 130 : code;
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
  { args, console, host }: Call,
  lines: AsyncIterable<WireStreamLine>,
  terminal: Output | undefined,
  interrupt: RunInterrupt,
): Promise<number> {
  const view = new RunView(console, {
    isTerminal: host.stdout.isTTY === true,
    isResultAlone: isResultAlone(host.stdoutKind, console.mode),
    isVerbose: args.flags.has("verbose"),
  });
  await using dialog = terminal === undefined ? undefined : openDialog({ console, host }, terminal);
  for await (const { payload } of lines) {
    const event = payload as WireEvent;
    if (event.event === "error" || event.event === "complete") await interrupt.told();
    if (event.event === "ask") dialog?.ask(event);
    else if (event.event === "ask_closed") dialog?.close(event);
    else await view.show(event);
    if (event.event === "complete") return event.exit_code;
  }
  return view.cutOff();
}
