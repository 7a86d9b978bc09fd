/** Asked before an agent starts: does the folder bring files that would take effect, and does the user trust it? */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../../abi/errors.ts";
import type { WireWorkspace } from "../../abi/methods/trust.ts";
import { BROUGHT_FILES, BROUGHT_FOLDERS, MCP_FILE } from "../../abi/trust.ts";
import type { Call } from "../command.ts";
import type { DaemonClient } from "../daemon/client.ts";
import { safeLine } from "../screen/text/safe-text.ts";
import { wrapped } from "../screen/text/width.ts";
import { itemsLines, leftOutLine } from "../screen/trust-lines.ts";
import type { Phrases } from "../screen/words/en.ts";
import { Keyboard } from "../terminal/keyboard.ts";
import type { Output } from "../terminal/streams.ts";
import { questionTerminal } from "./questions.ts";

const NAMES = [...[...BROUGHT_FILES, ...BROUGHT_FOLDERS].map(([path]) => path), MCP_FILE];

/** What happens without trust: the files are left out, after a question or without one, or the command is refused. */
type Otherwise = "left out" | "never asked" | "refused";

/**
 * `--trust` trusts everything. At a terminal the user is asked, once for the present files; otherwise one line names
 * what is left out, unless `otherwise` is "refused". "interrupted": Ctrl-C at the question.
 */
export async function settleTrust(
  call: Call,
  at: string | Workplace,
  otherwise: Otherwise = "left out",
): Promise<"settled" | "interrupted"> {
  const isGiven = call.args.flags.has("trust");
  const place = typeof at === "string" ? { dir: at } : at;
  if (!isGiven && !("compose" in place) && !mayBring(place.dir)) return "settled";
  const client = await call.host.daemon.ensure();
  try {
    return await settle(call, client, { place, isGiven, otherwise });
  } catch (error) {
    // a program started by an agent cannot grant trust, so nothing is shown
    if (!isGiven && codeOf(error) === "PERMISSION") return "settled";
    throw error;
  } finally {
    client.close();
  }
}

/** A folder, and the compose file that is to be used. */
interface Workplace {
  readonly dir: string;
  readonly compose?: string;
}

interface Settling {
  readonly place: Workplace;
  readonly isGiven: boolean;
  readonly otherwise: Otherwise;
}

async function settle(call: Call, client: DaemonClient, { place, isGiven, otherwise }: Settling) {
  const { console, args } = call;
  const workspace = await client.request("trust.show", { ...place, pending: true, diff: true });
  // what only forbids holds already: nobody is asked for it, but a yes is to it too
  const open = workspace.items.filter(({ state }) => state !== "holds");
  const isMissing = open.length > 0 || (isGiven && !workspace.trusted);
  if (!isMissing) return "settled" as const;
  if (isGiven) {
    await client.request("trust.add", { ...place, seen: seenOf(workspace) });
    return "settled" as const;
  }
  const isAsked = otherwise === "refused" || (!args.flags.has("detach") && otherwise !== "never asked");
  const terminal = isAsked ? questionTerminal(call) : undefined;
  // an earlier no suppresses the question only if the items are merely left out
  if (terminal === undefined || (workspace.declined && otherwise === "left out")) {
    if (otherwise !== "refused") await console.notice(leftOutLine(workspace, console.catalogue.trust));
    return "settled" as const;
  }
  const answer = await askTrust(call, terminal, workspace);
  if (answer === "interrupted") return answer;
  if (isGranted(answer))
    await client.request("trust.add", { ...place, seen: seenOf(workspace), ...hourOf(answer) });
  else if (otherwise !== "refused")
    await client.request("trust.decline", { dir: place.dir, seen: seenOf({ items: open }) });
  return "settled" as const;
}

/** The files shown to the user and their digests, which a yes applies to. */
export function seenOf({ items }: Pick<WireWorkspace, "items">): Record<string, string> {
  return Object.fromEntries(items.map(({ path, digest }) => [path, digest]));
}

type TrustAnswer = "yes" | "hour" | "no";

export function isGranted(answer: TrustAnswer): boolean {
  return answer !== "no";
}

export function hourOf(answer: TrustAnswer): { hour?: true } {
  return answer === "hour" ? { hour: true } : {};
}

/** A typed y is yes, h an hour where trust does not last, anything else no. */
export async function askTrust(
  { host, console }: Pick<Call, "host" | "console">,
  terminal: Output,
  workspace: WireWorkspace,
): Promise<TrustAnswer | "interrupted"> {
  const words = console.catalogue.trust;
  const left = new AbortController();
  const unlisten = host.interrupts.listen(() => left.abort());
  const write = (text: string): Promise<void> => new Promise((done) => void terminal.write(text, done));
  try {
    using keyboard = new Keyboard(host.stdin, () => left.abort());
    await keyboard.open(left.signal);
    await write(trustQuestion(workspace, words, terminal.columns));
    await keyboard.settle(left.signal);
    const keys = await keyboard.next(left.signal);
    if (left.signal.aborted) {
      await write("^C\n");
      return "interrupted";
    }
    const answer = answerOf((keys ?? "").trim(), workspace);
    await write(`${words[answer]}\n`);
    return answer;
  } finally {
    unlisten();
  }
}

function answerOf(typed: string, { session_only }: WireWorkspace): TrustAnswer {
  if (/^y(?:es)?$/i.test(typed)) return "yes";
  return session_only && /^h(?:our)?$/i.test(typed) ? "hour" : "no";
}

/** No word of it is broken; what the folder brings stands as it is. */
export function trustQuestion(
  { root, items, session_only }: Pick<WireWorkspace, "root" | "items" | "session_only">,
  words: Phrases["trust"],
  columns = 80,
): string {
  const said = (text: string): readonly string[] => wrapped(text, columns);
  const asks = said(`${session_only ? words.asksForNow : words.asks} [y/N]`);
  const lines =
    items.length === 0
      ? [...said(words.bringsNothing(safeLine(root))), ...asks]
      : [...said(words.brings(safeLine(root))), ...itemsLines(items, words), ...said(words.meaning), ...asks];
  return `${lines.join("\n")} `;
}

/** A cheap check: in most folders there is nothing to ask the daemon about. */
function mayBring(cwd: string): boolean {
  for (let at = cwd; ; at = dirname(at)) {
    if (NAMES.some((name) => isThere(join(at, name)))) return true;
    if (at === dirname(at)) return false;
  }
}

/** A path that cannot be examined counts as present. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
