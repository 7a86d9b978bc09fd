import type { Args } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { isVerb, parseComposeArgs, USAGE, type Verb } from "./args.ts";

/** `crux compose <verb>`; each verb is loaded only when it is called. */
export const compose: Command = { flags: {}, parse: parseComposeArgs, follows, run };

const VERBS: Readonly<Record<Verb, () => Promise<(call: Call) => Promise<number>>>> = {
  up: async () => (await import("./up.ts")).up,
  down: async () => (await import("./down.ts")).down,
  ps: async () => (await import("./ps.ts")).ps,
  logs: async () => (await import("./logs.ts")).logs,
  config: async () => (await import("./config.ts")).config,
};

function follows({ words: [verb], flags }: Args): boolean {
  return (verb === "up" && !flags.has("detach")) || (verb === "logs" && flags.has("follow"));
}

async function run(call: Call): Promise<number> {
  const [verb] = call.args.words;
  if (verb === undefined) throw invalid("a verb is missing", USAGE);
  if (!isVerb(verb)) throw invalid(`unknown argument: ${verb}`, USAGE);
  const start = await VERBS[verb]();
  return start(call);
}
