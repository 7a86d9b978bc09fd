/** Skills in the booted system: listed, loaded by the model and by the user, under permission and trust. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inTurn, modelEnv } from "./harness/model.ts";
import { onSharedStage, server, startModel, world } from "./harness/stage.ts";
import { text, toolUse } from "./model-server/reply.ts";

/** Not below a temporary directory: there trust would end with each run. */
const PLACE = fileURLToPath(new URL("../node_modules", import.meta.url));

onSharedStage();

let repo: string;
beforeEach(async () => {
  repo = realpathSync(mkdtempSync(join(PLACE, ".skills-system-")));
  mkdirSync(join(repo, ".git"));
  await startModel({
    script: inTurn(toolUse({ name: "skill", input: { skill: "greet", args: "Ada" } }), text("Done.")),
  });
});
afterEach(() => {
  for (const dir of [repo, join(world.dir, "config/crux/skills")])
    rmSync(dir, { recursive: true, force: true });
});

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
const own = (name: string, body: string, more = "") =>
  put(
    join(world.dir, "config/crux/skills", name, "SKILL.md"),
    `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n${body}`,
  );
const ofProject = (name: string, body: string, more = "") =>
  put(
    join(repo, ".crux/skills", name, "SKILL.md"),
    `---\nname: ${name}\ndescription: Theirs.\n${more}---\n${body}`,
  );
const crux = (args: readonly string[]) => world.crux(args, { cwd: repo, env: modelEnv(server) });
const asked = (at: number) => server.requests[at]?.rawBody ?? "";

describe("a skill", () => {
  it("stands in the list with one line, is loaded by the model, and files beside it are read without asking", async () => {
    own("greet", "Greet $1 as ${CRUX_SKILL_DIR}/words.txt says.");
    const words = join(world.dir, "config/crux/skills/greet/words.txt");
    put(words, "WARMLY");
    server.use(
      inTurn(
        toolUse({ name: "skill", input: { skill: "greet", args: "Ada" } }),
        toolUse({ name: "view", input: { file_path: words } }),
        text("Done."),
      ),
    );
    expect((await crux(["greet somebody"])).code).toBe(0);
    expect(asked(0)).toContain("- greet: Does greet.");
    expect(asked(0)).not.toContain("Greet $1");
    expect(asked(1)).toContain(`Greet Ada as ${dirname(words)}/words.txt says.`);
    expect(asked(2)).toContain("WARMLY");
  });

  it("that wants a process of its own is followed there, and its last message is the result", async () => {
    own("greet", "Greet $1.", "context: fork\nagent: explore\n");
    const call = toolUse({ name: "skill", input: { skill: "greet", args: "Ada" } });
    server.use(({ lastUserText, assistantTurns }) =>
      lastUserText.includes("Greet Ada.") ? text("Hello, Ada.") : assistantTurns > 0 ? text("Done.") : call,
    );
    expect((await crux(["greet somebody"])).stdout).toContain("Done.");
    const [first, child, after] = server.requests;
    expect(child?.messages).toHaveLength(1);
    expect([first, child].map((each) => each?.lastUserText.includes("Greet Ada."))).toEqual([false, true]);
    expect(after?.rawBody).toContain("Hello, Ada.");
    expect(after?.rawBody).not.toContain("Greet Ada.");
  });

  it("of a project counts only once the project is trusted", async () => {
    ofProject("greet", "Theirs.");
    await crux(["greet somebody"]);
    expect(asked(0)).not.toContain("- greet");
    expect(asked(1)).toContain("skill not found: greet");
    server.requests.length = 0;
    await crux(["trust", "--yes"]);
    await crux(["greet somebody"]);
    expect(asked(0)).toContain("- greet: Theirs.");
    expect(asked(1)).toContain("Skill greet, in ");
  });

  it("that asks for rights needs approval, and is refused by a deny rule whoever calls it", async () => {
    own("greet", "Greet.", "allowed-tools: Bash(touch *)\n");
    await crux(["greet somebody"]);
    expect(asked(1)).toContain("no rule allows it");
    server.requests.length = 0;
    await crux(["--allow", "skill(greet)", "greet somebody"]);
    expect(asked(1)).toContain("Skill greet, in ");
    server.requests.length = 0;
    await crux(["--deny", "skill(greet)", "/greet Ada"]);
    expect(asked(0)).not.toContain("Skill greet, in ");
  });
});

describe("/name of the user", () => {
  it("loads the skill before the model is asked; the rules of an own skill hold for this run alone", async () => {
    own("greet", "Greet $ARGUMENTS.", "allowed-tools: Bash(touch *)\ndisable-model-invocation: true\n");
    const touch = toolUse({ name: "bash", input: { command: "touch greeted" } });
    server.use(inTurn(touch, text("Done.")));
    const run = await crux(["/greet Ada and Bob"]);
    expect(run.code).toBe(0);
    expect(asked(0)).toContain("Greet Ada and Bob.");
    expect(asked(0)).not.toContain("- greet");
    expect(asked(1)).not.toContain("no rule allows it");
    server.requests.length = 0;
    await crux(["touch a file"]);
    expect(asked(1)).toContain("no rule allows");
  });

  it("runs the commands of the skill in a trusted project, confined, with arguments as plain text", async () => {
    own("greet", "On !`echo it is $1`.");
    await crux(["/greet '$(id)'"]);
    expect(asked(0)).toContain("On !`echo it is $1`.");
    server.requests.length = 0;
    await crux(["trust", "--yes"]);
    await crux(["--allow", "bash(echo:*)", "/greet '$(id)'"]);
    expect(asked(0)).toContain("On it is $(id).");
  });

  it("without such a skill is refused before anything is sent; other text with a slash is text", async () => {
    own("greet", "Greet.");
    const { code, stderr } = await crux(["/gret Ada"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("/greet")]);
    expect(server.requests).toHaveLength(0);
    server.use(inTurn(text("Done.")));
    expect((await crux(["/etc/hosts is odd"])).code).toBe(0);
    expect((await crux(["//gret"])).code).toBe(0);
  });
});
