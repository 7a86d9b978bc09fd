import type { ProjectEventWire } from "../../../abi/compose/wire.ts";
import type { Params, Result } from "../../../abi/methods/methods.ts";
import type { Call } from "../../command.ts";
import type { DaemonStream } from "../../daemon/client.ts";
import { daemonVanished } from "../../daemon/vanished.ts";
import { settleTrust } from "../../dialog/trust-question.ts";
import { clientEnvironment } from "../../run/environment.ts";
import { EventView, showNotices } from "./event-view.ts";
import { composePlace, readComposeFile } from "./file.ts";
import { ProjectInterrupt } from "./interrupt.ts";

/** The exit code of a command ended by Ctrl-C. */
const INTERRUPTED = 130;

export async function up(call: Call): Promise<number> {
  const { args, console, host } = call;
  const [, ...services] = args.words;
  const detach = args.flags.has("detach");
  const place = composePlace(args, host);
  const { digest, ...file } = readComposeFile(args, host);
  if ((await settleTrust(call, place, "refused")) === "interrupted") return INTERRUPTED;
  const request: Params<"compose.up"> = {
    ...file,
    ...(place.compose === undefined ? {} : { path: place.compose, digest }),
    ...(services.length === 0 ? {} : { services }),
    ...(args.flags.has("remove-orphans") ? { remove_orphans: true } : {}),
    ...(detach ? { detach } : {}),
    env: clientEnvironment(host.env),
  };
  if (detach) return follow(call, await (await host.daemon.ensure()).stream("compose.up", request));
  await using interrupt = new ProjectInterrupt(host, console);
  // awaited here, so that Ctrl-C stays handled here until the end
  return await followInForeground(call, request, interrupt);
}

async function followInForeground(
  call: Call,
  request: Params<"compose.up">,
  interrupt: ProjectInterrupt,
): Promise<number> {
  const { abandoned } = interrupt;
  try {
    const client = await call.host.daemon.ensure(abandoned);
    interrupt.starting();
    const stream = await client.stream("compose.up", request, abandoned);
    const close = (): void => stream.close();
    abandoned.addEventListener("abort", close);
    interrupt.started(stream.response.project);
    try {
      const code = await follow(call, stream);
      return interrupt.wasPressed ? INTERRUPTED : code;
    } finally {
      abandoned.removeEventListener("abort", close);
    }
  } catch (error) {
    if (abandoned.aborted) return INTERRUPTED;
    throw error;
  }
}

/** The exit code of the project, or 0 if it keeps running. Rejects when the stream breaks off. */
async function follow(
  { args, console, host }: Call,
  stream: DaemonStream<Result<"compose.up">>,
): Promise<number> {
  const { response, lines } = stream;
  const isDetached = args.flags.has("detach");
  let code: number | undefined;
  try {
    await showNotices(console, response.notices);
    const view = new EventView(console, response.children, host.stdout.isTTY === true);
    const isComplete = await view.showAll(lines, (event) => {
      code ??= codeAt(event, isDetached);
      return event.event !== "up" || isDetached || console.mode === "json";
    });
    if (!isComplete || code === undefined) throw daemonVanished();
    if (isDetached && code === 0 && console.mode === "quiet") await console.line(String(response.pid));
    return code;
  } finally {
    stream.close();
  }
}

/** undefined: the stream continues. */
function codeAt(event: ProjectEventWire, isDetached: boolean): number | undefined {
  switch (event.event) {
    case "done":
      return event.code;
    case "failed":
      return event.code === 0 ? 1 : event.code;
    case "stopped":
      return 0;
    case "up":
      return isDetached ? 0 : undefined;
    default:
      return undefined;
  }
}
