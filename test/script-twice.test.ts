/** A scenario with children that work beside each other, played twice: each process has the same records both times. */
import { expect, it } from "vitest";
import { World } from "./harness/world.ts";

const CHILDREN = ["ash", "birch", "cedar", "elm", "fir"];
const STEPS = 4;

/**
 * One part for all children, each line of which is there once: a child that took another one's place would miss a line. They view
 * files of their own, and speak in small pieces, so that they are in each other's way.
 */
const SHARED = [
  ...Array.from({ length: STEPS }, (_, n) => ({
    when: { user: `/^(${CHILDREN.join("|")})$/`, turn: n + 1 },
    say: `{{user}} ${n}`,
    call: [{ tool: "view", args: { file_path: `{{user}}-${n}.txt` } }],
    pace: { chunk: 2, delayMs: 1 },
  })),
  { when: { user: `/^(${CHILDREN.join("|")})$/` }, say: "{{user}} is done." },
];

const SCENARIO = {
  scenario: "woods",
  turns: [
    {
      when: { user: "begin", turn: 1 },
      call: CHILDREN.map((name) => ({
        tool: "agent",
        args: { description: "looks", prompt: name },
      })),
    },
    ...SHARED,
    { when: { user: "begin" }, say: "All is well." },
  ],
};

/**
 * What differs from life to life: where it lies, which of the children that begin at once got which pid, and the line with
 * id, pid and time below a child's answer.
 */
function bare(text: string, dir: string): string {
  return text
    .replaceAll(dir, "DIR")
    .replaceAll(/\bcall_\d+_/g, "call_")
    .replaceAll(/\[agent-\w+, pid \d+: (\d+ tokens), [\d.]+ s\]/g, "[$1]");
}

/** By process, what was said, called and answered, in its order. */
async function played(): Promise<ReadonlyMap<string, readonly string[]>> {
  const world = new World();
  try {
    for (const name of CHILDREN)
      for (let n = 0; n < STEPS; n++) world.write(`${name}-${n}.txt`, `${name} in year ${n}\n`);
    const env = {
      CRUX_SCENARIO: world.write("woods.json", JSON.stringify(SCENARIO)),
      CRUX_PROVIDER: "script",
    };
    const run = await world.crux(["--permission-mode", "bypass", "-q", "begin"], { env });
    expect([run.code, run.stdout], run.stderr).toEqual([0, "All is well.\n"]);
    const said = new Map<string, readonly string[]>();
    for (let pid = 1; pid <= 1 + CHILDREN.length; pid++) {
      const { stdout } = await world.crux(["journal", `${pid}`, "--json"]);
      const lines = stdout.split("\n").filter((line) => line !== "");
      const name = CHILDREN.find((each) => lines[0]?.includes(`"${each}"`)) ?? "lead";
      const records = lines.map((line) => JSON.parse(line) as { kind: string; body: unknown });
      const messages = records.filter(({ kind }) => kind === "ctx.record");
      said.set(
        name,
        messages.map(({ body }) => bare(JSON.stringify(body), world.dir)),
      );
    }
    return said;
  } finally {
    await world.close();
  }
}

it("twice, with five children beside each other: the same is said in each of them", async () => {
  const [first, second] = [await played(), await played()];
  expect([...first.keys()].sort()).toEqual([...CHILDREN, "lead"].sort());
  for (const name of CHILDREN) expect(first.get(name)?.length, name).toBeGreaterThan(2 * STEPS);
  for (const [name, records] of first) expect(second.get(name), name).toEqual(records);
}, 60_000);
