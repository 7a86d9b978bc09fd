import type { WireGrant } from "../../../abi/methods/rights.ts";
import { noWords, pidOf } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { safeLine } from "../../screen/text/safe-text.ts";

const USAGE = "crux grants [<pid>] | crux grants rm <id> [--pid <pid>] [--kill]";

/** The grants of the user beside the settings: listed, or revoked. */
export const grants: Command = { flags: { kill: { type: "boolean" }, pid: { type: "string" } }, run };

function run(call: Call): Promise<number> {
  return call.args.words[0] === "rm" ? remove(call) : list(call);
}

async function list({ args, console, host }: Call): Promise<number> {
  const [word, ...more] = args.words;
  if (more.length > 0 || args.flags.has("kill") || args.flags.has("pid"))
    throw invalid("crux grants lists; to take one back: crux grants rm <id>", USAGE);
  const where = word === undefined ? {} : { pid: pidOf(word, USAGE) };
  const client = await host.daemon.ensure();
  const { grants: found } = await client.request("grant.list", where);
  client.close();
  if (console.mode === "json") await console.data({ grants: found });
  else if (found.length > 0) await console.line(found.map((grant) => shown(grant, console.mode)).join("\n"));
  else if (console.isScreen) await console.line("No grants.");
  return 0;
}

async function remove({ args, console, host }: Call): Promise<number> {
  const [, id, ...more] = args.words;
  if (id === undefined) throw invalid("which grant? crux grants lists them", USAGE);
  noWords({ ...args, words: more }, USAGE);
  const pid = args.values.get("pid")?.at(-1);
  const isKilling = args.flags.has("kill");
  const client = await host.daemon.ensure();
  const where = pid === undefined ? {} : { pid: pidOf(pid, USAGE) };
  await client.request("grant.remove", { id, ...where, ...(isKilling ? { kill: true } : {}) });
  client.close();
  if (console.mode === "json") await console.data({ id, removed: true });
  else if (console.mode !== "quiet") await console.line(`[kernel] grant ${safeLine(id)} taken back`);
  return 0;
}

function shown(grant: WireGrant, mode: Call["console"]["mode"]): string {
  if (mode === "quiet") return safeLine(grant.id);
  const { id, behavior, rule, at, by, uses, used, expires_at } = grant;
  const parts = [
    `${safeLine(id)}  ${behavior} ${safeLine(rule)}`,
    reachOf(grant),
    `by ${safeLine(by.client === "" ? by.principal : by.client)} at ${at}`,
    ...(uses === undefined ? [] : [`used ${used} of ${uses}`]),
    ...(expires_at === undefined ? [] : [`until ${expires_at}`]),
  ];
  return parts.join(", ");
}

function reachOf({ scope, pid, root, session }: WireGrant): string {
  if (root !== undefined) return `${scope} ${safeLine(root)}`;
  if (pid !== undefined) return `${scope} ${pid}`;
  return session === 0 ? scope : `${scope} ${session}`;
}
