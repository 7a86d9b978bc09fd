/** `crux acp`: sessions for an editor that speaks the Agent Client Protocol on stdin and stdout. */
import { agent, ndJsonStream, PROTOCOL_VERSION, type Stream } from "@agentclientprotocol/sdk";
import { type FlagTable, noWords, RUN_FLAGS } from "../args.ts";
import type { Call, Command } from "../command.ts";
import type { Input, Output } from "../terminal/streams.ts";
import { requestError } from "./faults.ts";
import { Office } from "./office.ts";
import { Openings } from "./openings.ts";

const USAGE =
  "crux acp [--model <name>] [--agent <name>] [--permission-mode <mode>] [--add-dir <dir>] [--mcp-config <file>] [--max-budget-usd <n>]";

const FLAGS = [
  ...["model", "agent", "permission-mode", "dangerously-skip-permissions"],
  ...["add-dir", "mcp-config", "strict-mcp-config"],
];

export const acp: Command = {
  flags: {
    ...(Object.fromEntries(FLAGS.map((name) => [name, RUN_FLAGS[name]])) as FlagTable),
    "max-budget-usd": { type: "string" },
  },
  run,
};

/** Ends with stdin: its sessions are left as they are. */
async function run({ args, host, console }: Call): Promise<number> {
  noWords(args, USAGE);
  const openings = new Openings(args, host);
  await using office = new Office(openings, host, (words) => void console.errorLine(words));
  const handled = agent({ name: "crux" })
    .onRequest("initialize", ({ params }) => ({
      protocolVersion: PROTOCOL_VERSION,
      ...office.initialize(params),
    }))
    .onRequest(
      "authenticate",
      answered(() => office.authenticate()),
    )
    .onRequest(
      "session/new",
      answered(({ params }) => office.create(params)),
    )
    .onRequest(
      "session/load",
      answered(({ params }) => office.load(params)),
    )
    .onRequest(
      "session/resume",
      answered(({ params }) => office.resume(params)),
    )
    .onRequest(
      "session/list",
      answered(({ params }) => office.list(params)),
    )
    .onRequest(
      "session/close",
      answered(({ params }) => office.close(params)),
    )
    .onRequest(
      "session/set_mode",
      answered(({ params }) => office.setMode(params)),
    )
    .onRequest(
      "session/set_config_option",
      answered(({ params }) => office.setOption(params)),
    )
    .onRequest(
      "session/prompt",
      answered(({ params, signal }) => office.prompt(params, signal)),
    )
    .onNotification("session/cancel", ({ params }) => office.cancel(params));
  const connection = handled.connect(editorStream(host.stdin, host.stdout));
  office.connected(connection.client);
  const unlisten = [
    host.lifecycle.onTerminate(() => connection.close()),
    host.interrupts.listen(() => connection.close()),
  ];
  await connection.closed;
  for (const each of unlisten) each();
  return 0;
}

/** A handler whose failures have the numbers of the protocol. */
function answered<C, R>(handle: (context: C) => Promise<R>): (context: C) => Promise<R> {
  return async (context) => {
    try {
      return await handle(context);
    } catch (error) {
      throw requestError(error);
    }
  };
}

/** As large as a line of the daemon's wire. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

function editorStream(stdin: Input, stdout: Output): Stream {
  const output = new WritableStream<Uint8Array>({
    write: (chunk) => new Promise<void>((done) => void stdout.write(chunk, done)),
  });
  const input = new ReadableStream<Uint8Array>({
    start(controller) {
      let isOver = false;
      const end = (): void => {
        if (!isOver) controller.close();
        isOver = true;
      };
      stdin.on("data", (chunk) => {
        if (isOver) return;
        controller.enqueue(chunk);
        // an editor that sends faster than it is read waits
        if ((controller.desiredSize ?? 0) <= 0) stdin.pause();
      });
      stdin.on("end", end);
      stdin.on("error", end);
    },
    pull() {
      stdin.resume();
    },
  });
  return ndJsonStream(output, input, { maxMessageBytes: MAX_MESSAGE_BYTES });
}
