/**
 * What the flags of a run change in a session that is continued. Its folders, servers, instructions, mode and model stay so for later
 * runs; rules hold as long as this command; limits of money, tokens and time are counted from here on.
 */
import type { Params } from "../../abi/methods/methods.ts";
import type { SpawnRequest } from "../../abi/methods/process.ts";
import type { Call } from "../command.ts";
import { clientEnvironment } from "../run/environment.ts";
import { requestOptions } from "../run/run-options.ts";
import { invalid } from "../screen/errors.ts";
import { safeLine } from "../screen/text/safe-text.ts";
import type { ChatClient } from "./client.ts";
import { isInWorktree } from "./ref.ts";

/** What print mode adds to the flags: wishes of its client, and limits of its own. */
export type More = Partial<
  Pick<SpawnRequest, "agents" | "instructions" | "system_prompt" | "mcp_servers" | "max_steps" | "limits">
>;

/** The result ends the rules. INVALID: the session began with something that cannot be changed. CONFLICT: it is in use. */
export async function continueWith(
  { args, host }: Pick<Call, "args" | "host">,
  { pid, client }: { readonly pid: number; readonly client: ChatClient },
  more: More = {},
): Promise<() => void> {
  const wish = { ...requestOptions(args, host), ...more };
  if (wish.agent !== undefined || wish.worktree !== undefined) await checkPlace(client, pid, wish);
  client.maxSteps = wish.max_steps;
  const [change, model, rules] = [changeOf(wish), modelOf(wish), rulesOf(wish)];
  const { permission_mode: mode, plan = false, budget, limits } = wish;
  const isAsked = [change, model, rules, limits ?? {}].some((part) => Object.keys(part).length > 0);
  if (!isAsked && mode === undefined && !plan && budget === undefined) return () => undefined;
  const env = clientEnvironment(host.env);
  // also brings it back, and makes a session of an agent that has ended
  await client.request("session.change", { pid, ...change, env });
  if (mode !== undefined) await client.mode(pid, mode);
  if (plan) await client.mode(pid, "plan");
  if (Object.keys(model).length > 0) await client.request("process.model", { pid, ...model, env });
  await setLimits(client, pid, wish);
  return lendRules(host.daemon, pid, rules);
}

type Wish = Omit<SpawnRequest, "intent">;

/** A client that gives its flags again names what is so already; anything else would be another session. */
async function checkPlace(client: ChatClient, pid: number, { agent, worktree }: Wish): Promise<void> {
  const { sessions } = await client.request("session.list", { all: true });
  const { name = "", cwd = "" } = sessions.find((session) => session.pid === pid) ?? {};
  if (agent !== undefined && name !== (agent === "none" ? "" : agent)) {
    const began = name === "" ? "without an agent" : `as ${name}`;
    throw settled(`session ${pid} began ${began}: --agent is settled when a session begins`);
  }
  if (worktree === undefined || isInWorktree(cwd, worktree)) return;
  throw settled(`session ${pid} works in ${safeLine(cwd)}: --worktree is settled when a session begins`);
}

function settled(message: string): Error {
  return invalid(message, "leave -c and -r out to begin one");
}

type Change = Omit<Params<"session.change">, "pid" | "env">;

function changeOf(wish: Wish): Change {
  const { dirs, mcp_servers, strict_mcp, instructions, system_prompt, agents, tools } = wish;
  return {
    ...(dirs === undefined ? {} : { dirs }),
    ...(mcp_servers === undefined ? {} : { mcp_servers }),
    ...(strict_mcp === undefined ? {} : { strict_mcp }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(system_prompt === undefined ? {} : { system_prompt }),
    ...(agents === undefined ? {} : { agents }),
    ...(tools === undefined ? {} : { tools }),
  };
}

function modelOf({ model, effort, fallback_models }: Wish): Omit<Params<"process.model">, "pid" | "env"> {
  return {
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
    ...(fallback_models === undefined ? {} : { fallback_models }),
  };
}

/** As much more than was used: the limits of earlier commands do not count against this one. */
async function setLimits(client: ChatClient, pid: number, { budget, limits = {} }: Wish): Promise<void> {
  const { usd, wall_ms, tokens = budget } = limits;
  if (usd === undefined && wall_ms === undefined && tokens === undefined) return;
  const { accounts } = await client.request("budget.get", { pid });
  const account = accounts.find((each) => each.pid === pid);
  const { spent = { usd: 0, tokens: 0 }, wall_ms: worked = 0 } = account ?? {};
  const set = {
    ...(usd === undefined ? {} : { usd: spent.usd + usd }),
    ...(tokens === undefined ? {} : { tokens: spent.tokens + tokens }),
    ...(wall_ms === undefined ? {} : { wall_ms: worked + wall_ms }),
  };
  await client.request("budget.set", { pid, set });
}

type Rules = Pick<Params<"grant.add">, "allow" | "ask" | "deny">;

function rulesOf({ settings = {}, ...wish }: Wish): Rules {
  const lists = (["allow", "ask", "deny"] as const).flatMap((key) => {
    const all = [...((key === "ask" ? undefined : wish[key]) ?? []), ...(settings[key] ?? [])];
    return all.length === 0 ? [] : [[key, all] as const];
  });
  return Object.fromEntries(lists);
}

/** The connection on which they hold stays open. */
async function lendRules(daemon: Call["host"]["daemon"], pid: number, rules: Rules): Promise<() => void> {
  if (Object.keys(rules).length === 0) return () => undefined;
  const connection = await daemon.ensure();
  try {
    await connection.request("grant.add", { pid, ...rules, while_connected: true });
    return () => connection.close();
  } catch (error) {
    connection.close();
    throw error;
  }
}
