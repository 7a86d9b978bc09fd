/**
 * skill: loads the instructions of a skill. The commands in its text are effects of the call like those of bash: each
 * is judged, confined and journalled.
 */
import * as z from "zod";
import { DEFAULT_AGENT } from "../../abi/agent.ts";
import { O_RDWR } from "../../abi/device.ts";
import type { Effect } from "../../abi/effects.ts";
import { messageOf } from "../../abi/errors.ts";
import type { ShellAnswer, ShellRequest } from "../../abi/ops/fs.ts";
import { isOwnSkill, MAX_SKILLS_IN_USE, type SkillFork, type SkillText } from "../../abi/skill.ts";
import { agent } from "../agent/agent.ts";
import { failure } from "../failure.ts";
import { readToEnd, withFile } from "../files.ts";
import { similarNames } from "../similar.ts";
import { defineTool, type Outcome, type RunContext, type Scope } from "../tool.ts";
import text from "./skill.md";
import { commandsIn, type Filling, filledIn } from "./template.ts";

const COMMAND_MS = 30_000;
/** Of each command's output in the text. */
const MAX_OUTPUT = 20_000;
const MAX_COMMANDS = 20;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

const Args = z.object({
  skill: z.string().min(1).max(200),
  args: z.string().max(20_000).optional(),
});
type Args = z.output<typeof Args>;

const Meta = z.strictObject({ skill: z.string(), source: z.string(), dir: z.string() });

export const skill = defineTool({
  name: "skill",
  hint: "skill instructions for a kind of work",
  text,
  args: Args,
  meta: Meta,
  listed: "core",
  wantsSkills: true,
  readOnly: (args, scope) => shellTexts(args, scope).length === 0,
  destructive: () => false,
  effects: (args, scope) => [
    started(args, scope),
    ...followers(args, scope),
    ...shellTexts(args, scope).map((shell) => exec(shell, scope)),
  ],
  view: (args, scope) => {
    const { name, rules: asked, fork } = wanted(args, scope);
    const rules = fork === null ? asked : [];
    const commands = shellTexts(args, scope);
    return {
      operation: `use skill: ${name}`,
      params: {
        args: args.args,
        ...(rules.length === 0 ? {} : { allows: `${rules.join(", ")} (until this run ends)` }),
        ...(commands.length === 0 ? {} : { runs: commands.join("\n") }),
      },
    };
  },
  about: (args) => args.skill,
  activity: (args) => `Using skill ${args.skill}`,
  run,
});

/** Throws where the call must fail. */
function wanted({ skill: name }: Args, { skills }: Scope): SkillText {
  const found = skills?.find(name.replace(/^\//, ""));
  if (skills === undefined || found === undefined) throw notFound(name, skills?.names() ?? []);
  const isTyped = skills.isTyped(found.name);
  if (!isTyped && !found.forModel)
    throw failure(
      "PERMISSION",
      `skill ${found.name} is for the user alone`,
      `The user can type /${found.name}.`,
    );
  if (isTyped && !found.forUser && !found.forModel)
    throw failure("PERMISSION", `skill ${found.name} is neither for the user nor for a model`);
  const inUse = skills.inUse();
  if (!inUse.includes(found.name) && inUse.length >= MAX_SKILLS_IN_USE)
    throw failure(
      "INVALID",
      `${MAX_SKILLS_IN_USE} skills are in use in this run already: ${inUse.join(", ")}`,
    );
  return found;
}

function notFound(name: string, names: readonly string[]): Error {
  const similar = similarNames(name, names);
  const others =
    similar.length === 0
      ? `Skills here: ${names.slice(0, 50).join(", ") || "none"}`
      : `Similar: ${similar.join(", ")}`;
  return failure("NOT_FOUND", `skill not found: ${name.slice(0, 200)}. ${others}`);
}

function started(args: Args, scope: Scope): Effect {
  const { name, source, isPlain, rules, fork } = wanted(args, scope);
  const isTyped = scope.skills?.isTyped(name) === true;
  return {
    kind: "spawn",
    program: name,
    background: false,
    // the rules of one that is followed elsewhere are not for this process
    skill: { isPlain, isTyped, isOwn: isOwnSkill(source), rules: fork === null ? rules : [] },
  };
}

/** The start of the process that follows it. */
function followers(args: Args, scope: Scope): readonly Effect[] {
  const { fork } = wanted(args, scope);
  return fork === null ? [] : [{ kind: "spawn", program: agentOf(fork), background: false }];
}

function agentOf({ agent: type }: SkillFork): string {
  return (type || DEFAULT_AGENT).toLowerCase();
}

function shellTexts(args: Args, scope: Scope): readonly string[] {
  const found = wanted(args, scope);
  if (!found.runsCommands) return [];
  const commands = commandsIn(found, fillingOf(args, found, scope));
  if (commands.length <= MAX_COMMANDS) return commands;
  throw failure(
    "INVALID",
    `skill ${found.name} has ${commands.length} commands in its text; ${MAX_COMMANDS} are run`,
  );
}

function fillingOf({ args = "" }: Args, { argumentNames, dir }: SkillText, { skills }: Scope): Filling {
  return { args: args.trim(), argumentNames, dir, session: skills?.session ?? "" };
}

function exec(shell: string, { cwd }: Scope): Effect {
  return { kind: "exec", argv: ["bash", "-c", shell], cwd, certain: false, shell };
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const found = wanted(args, context);
  const outputs: string[] = [];
  for (const command of shellTexts(args, context)) outputs.push(await outputOf(command, context));
  const { name, source, dir } = found;
  const body = filledIn(found.body, fillingOf(args, found, context), outputs);
  context.skills?.used(name);
  if (found.fork !== null) {
    const { text, error } = await followed(found.name, body, found.fork, context);
    return { text, ...(error === undefined ? { meta: { skill: name, source, dir } } : { error }) };
  }
  return {
    text: `Skill ${name}, in ${dir}. Follow it for the task at hand:\n\n${body}`,
    meta: { skill: name, source, dir },
  };
}

/** As by a call of `agent` that waits for it, which is what it is. */
async function followed(name: string, body: string, fork: SkillFork, context: RunContext): Promise<Outcome> {
  const task = {
    description: `skill ${name}`,
    prompt: body,
    subagent_type: agentOf(fork),
    ...(fork.model === "" ? {} : { model: fork.model }),
  };
  return agent.bind(task, context).run({ ...context, background: { isOff: true } });
}

/** A command that fails leaves its message in the text; only an interrupt ends the call. */
async function outputOf(command: string, context: RunContext): Promise<string> {
  const { cwd, sys, signal } = context;
  const request: ShellRequest = { command, cwd, timeout_ms: COMMAND_MS, merge: true };
  try {
    const answer = await withFile(context, "/dev/shell", O_RDWR, async (fd) => {
      await sys.write(fd, Buffer.from(JSON.stringify(request)), signal);
      return JSON.parse((await readToEnd(context, fd, MAX_ANSWER_BYTES)).toString("utf8")) as ShellAnswer;
    });
    return shown(answer);
  } catch (error) {
    signal.throwIfAborted();
    return `[the command was not run: ${messageOf(error)}]`;
  }
}

function shown({ output, exit_code: code, timed_out: isLate }: ShellAnswer): string {
  const text = output.trimEnd();
  const cut = text.length > MAX_OUTPUT ? `${text.slice(0, MAX_OUTPUT).toWellFormed()}\n[cut]` : text;
  if (isLate) return `${cut}\n[ended after ${COMMAND_MS / 1000} s]`.trimStart();
  return code === 0 ? cut : `${cut}\n[exit code ${code ?? "none"}]`.trimStart();
}
