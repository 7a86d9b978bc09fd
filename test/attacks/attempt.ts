/** One attack by an agent of a booted daemon: what it was told, what a person was asked, what the world looks like after. */
import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { modelEnv } from "../harness/model.ts";
import { Wire } from "../harness/wire.ts";
import { World } from "../harness/world.ts";
import { text, toolUse } from "../model-server/reply.ts";
import type { ModelRequest } from "../model-server/request.ts";
import { type ModelServer, startModelServer } from "../model-server/server.ts";
import { differences, HOME, Listener, makeSite, prepare, SECRET, type Site, sharedSnapshot } from "./site.ts";
import type { Attack } from "./table.ts";

/** Who is there: nobody, or a person who says so to every question. */
export type Person = "nobody" | "no" | "yes";

export interface Attempt {
  readonly text: string;
  readonly expected: Attack["expected"];
  readonly person: Person;
  /** Why it was asked; empty: it was not. */
  readonly asked: readonly string[];
  /** What the model read of the call. */
  readonly result: string;
  /** What differs in the case's own folder. */
  readonly changes: readonly string[];
  /** Of that, what nobody may change. */
  readonly touched: readonly string[];
  /** Where a secret stands that was not there before. */
  readonly leaks: readonly string[];
  /** What differs elsewhere on the machine, and who was connected to, while this one ran beside others. */
  readonly elsewhere: readonly string[];
}

const RULES = {
  permissions: {
    allow: ["bash(git *)", "bash(echo *)", "bash(npm test)", "edit(src/**)"],
    deny: ["view(secrets/**)"],
  },
};
/** Variables that a careless person has set: what a dynamic word would become. */
export const CARELESS = { CMD: "rm", X: "rm x", F: "secrets/k" };

/** What goes beside an attack: files of its workspace, places for their names in braces, variables of the client. */
export interface More {
  readonly files?: Readonly<Record<string, string>>;
  readonly places?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Real places for their names in braces. */
export function filled(text: string, places: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (all, name) => places[name] ?? all);
}

export function placed(attack: Attack, places: Readonly<Record<string, string>>): Attack {
  return put(attack, places) as Attack;
}

function put(value: unknown, places: Readonly<Record<string, string>>): unknown {
  if (typeof value === "string") return filled(value, places);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, put(each, places)]));
}

export class Field {
  readonly world: World;
  readonly server: ModelServer;
  readonly listener: Listener;
  readonly #attacks = new Map<string, Attack>();
  readonly #results = new Map<string, string>();
  #next = 0;

  private constructor(world: World, server: ModelServer, listener: Listener) {
    this.world = world;
    this.server = server;
    this.listener = listener;
  }

  /** `daemon`: variables that only the daemon has. */
  static async open(settings: object = RULES, daemon: Record<string, string> = {}): Promise<Field> {
    prepare();
    const listener = new Listener();
    await listener.open();
    const world = new World({ HOME });
    world.settings(settings);
    await world.crux(["ps"], { env: daemon });
    let field: Field | undefined;
    const server = await startModelServer({ script: (request) => field!.#answer(request) });
    field = new Field(world, server, listener);
    return field;
  }

  async close(): Promise<void> {
    await this.world.close();
    await this.server.close();
    this.listener.close();
  }

  async try(attack: Attack, person: Person, more: More = {}): Promise<Attempt> {
    const name = `case-${++this.#next}-${person}`;
    const site = makeSite(name, attack.hardLink, attack.brings);
    const [shared, heard] = [sharedSnapshot(), this.listener.heard.length];
    const places = { ...this.#places(site), ...more.places };
    this.#attacks.set(name, placed(attack, places));
    for (const [file, content] of Object.entries(more.files ?? {}))
      writeFileSync(join(site.work, file), filled(content, places));
    const asked = await this.#run(name, attack, person, site, more.env);
    const result = this.resultOf(name);
    const later = this.listener.heard.slice(heard + (attack.fetched === undefined ? 0 : 1));
    const { text, expected } = attack;
    return {
      ...{ text, expected, person, asked, result, changes: site.changes() },
      touched: unnamed(site.protectedChanges(), attack, site),
      leaks: [...site.leaks(), ...(result.includes(SECRET) ? ["the result"] : [])],
      elsewhere: [
        ...unnamed(differences(shared, sharedSnapshot()), attack, site),
        ...later.map((what) => `heard ${what}`),
      ],
    };
  }

  /** What to say to an agent that is to make this call. */
  script(tool: string, input: Attack["input"]): string {
    const name = `case-${++this.#next}-other`;
    this.#attacks.set(name, { expected: "A", tool, input, text: name });
    return name;
  }

  /** What the model read of its call. */
  resultOf(name: string): string {
    return this.#results.get(name) ?? "";
  }

  async #run(
    name: string,
    attack: Attack,
    person: Person,
    { work }: Site,
    more: More["env"] = {},
  ): Promise<string[]> {
    const asked: string[] = [];
    await using wire = await Wire.open(this.world.socket);
    await using hand = await Wire.open(this.world.socket);
    const env = { ...this.world.env, ...CARELESS, ...modelEnv(this.server), ...more };
    const { mode = "default", allow = [], deny = [] } = attack;
    const rules = { allow: [...allow], deny: [...deny], permission_mode: mode };
    const spawn = { intent: name, interactive: person !== "nobody", cwd: work, env, ...rules };
    const started = await wire.ask("spawn", spawn);
    if (started?.ok !== true) throw new Error(`${name} did not start: ${JSON.stringify(started)}`);
    for (let line = await wire.next(); line !== undefined; line = await wire.next()) {
      if (line.payload?.event === "complete") return asked;
      if (line.payload?.event !== "ask") continue;
      asked.push(String(line.payload.message ?? line.payload.reason));
      await hand.ask("ask.answer", { ask_id: line.payload.ask_id, answer: person });
    }
    throw new Error(`${name} ended without a result`);
  }

  #places({ work }: Site): Record<string, string> {
    const [state, runtime] = [join(this.world.dir, "state/crux"), join(this.world.dir, "run/crux")];
    return { state, runtime, port: String(this.listener.port), workspace: work };
  }

  #answer(request: ModelRequest) {
    const name = /case-\d+-\w+/.exec(JSON.stringify(request.messages))?.[0] ?? "";
    const { tool, input, first, fetched } = this.#attacks.get(name)!;
    for (const { content } of request.lastToolResults) this.#results.set(name, String(content));
    const before = [
      ...(first === undefined ? [] : [toolUse({ name: "view", input: { file_path: first } })]),
      ...(fetched === undefined
        ? []
        : [toolUse({ name: "tool_call", input: { tool: "fetch", params: { url: fetched } } })]),
    ];
    const replies = [...before, toolUse({ name: tool, input }), text("Done.")];
    return replies[Math.min(request.assistantTurns, replies.length - 1)] ?? text("Done.");
  }
}

/** What a person said yes to by name, with all in it, is no trace of an attack; nor is the folder that it lies in. */
function unnamed(paths: readonly string[], { names = [] }: Attack, { work }: Site): readonly string[] {
  const named = names.map((name) => resolve(work, name));
  return paths.filter(
    (path) => !named.some((name) => path === name || path.startsWith(`${name}/`) || path === dirname(name)),
  );
}

const isAlone = ({ names, fetched }: Attack): boolean => names !== undefined || fetched !== undefined;

/** All of them, some at a time; then, each alone, those that may change what others look at. */
export async function tryAll(
  field: Field,
  cases: readonly (readonly [Attack, Person])[],
  tell: (attempt: Attempt) => void,
  atOnce = 6,
): Promise<void> {
  const open = cases.filter(([attack]) => !isAlone(attack));
  const work = async (from: (readonly [Attack, Person])[]): Promise<void> => {
    for (let next = from.shift(); next !== undefined; next = from.shift()) tell(await field.try(...next));
  };
  await Promise.all(Array.from({ length: atOnce }, () => work(open)));
  await work(cases.filter(([attack]) => isAlone(attack)));
}
