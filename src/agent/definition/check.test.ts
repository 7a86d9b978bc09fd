import { expect, it } from "vitest";
import { memoryFiles } from "../testing/memory-files.ts";
import { type CheckOptions, checkAgents, checkSkills } from "./check.ts";

const AGENT = `name: reviewer
modle: sonnet
models:
  prefered: opus
tools: [view, veiw, Bash(git *), mcp__notes]
version: 2
hooks: {}
skills:
  - reading
  - raeding
`;

const options = (files: Record<string, string>): CheckOptions => ({
  places: [{ dir: "/a/agents", source: "user" }],
  skillDirs: ["/a/skills"],
  skillFolders: [{ dir: "/a/skills", source: "user", kind: "skills" }],
  files: memoryFiles(files),
  tools: ["bash", "view", "edit"],
});
const SKILLS = { "/a/skills/reading/SKILL.md": "---\nname: reading\n---\nRead." };
const at = "/a/agents/reviewer/agent.yaml";
const folder = (yaml: string) => ({ ...SKILLS, [at]: yaml, "/a/agents/reviewer/instructions.md": "Go." });
const issues = async (files: Record<string, string>) =>
  (await checkAgents(options(files))).flatMap((each) =>
    each.issues.map(({ severity, message }) => [severity, message]),
  );

it("checkAgents() names file, line and the nearest name of all that is wrong", async () => {
  expect(await issues(folder(AGENT))).toEqual([
    ["warning", `${at}:4: unknown key 'models.prefered' (did you mean preferred?)`],
    ["warning", `${at}:2: unknown key 'modle' (did you mean model?)`],
    ["note", `${at}:7: hooks does nothing in this version`],
    ["warning", `${at}:5: unknown tool 'veiw' (did you mean view?)`],
    [
      "warning",
      `${at}:5: 'Bash(git *)' gives no tool: name the tool alone; a rule belongs into the settings`,
    ],
    ["error", `${at}:10: unknown skill 'raeding' (did you mean reading?)`],
  ]);
});

it.each([
  ["name: x\nskills: [a\nb: c", /^\/a\/agents\/reviewer\/agent\.yaml:\d+:\d+: /],
  ["name: x\nmax_steps: many", /agent\.yaml:2: max_steps must be a whole number$/],
  ["description: x", /agent\.yaml: name is required$/],
])("checkAgents() tells what keeps %j from being loaded", async (yaml, message) => {
  expect(await issues(folder(yaml))).toEqual([["error", expect.stringMatching(message)]]);
});

it("checkAgents() counts the lines of a file with its instructions from its top, and looks at one by name", async () => {
  const md = "/a/agents/helper.md";
  const files = {
    ...folder("name: reviewer\n"),
    [md]: "---\nname: helper\nmodle: x\ndescription: y\n---\nHelp.",
  };
  expect(await issues(files)).toEqual([["warning", `${md}:3: unknown key 'modle' (did you mean model?)`]]);
  expect((await checkAgents(options(files), "reviewer")).map(({ name }) => name)).toEqual(["reviewer"]);
  expect(await checkAgents(options(files), "nobody")).toEqual([]);
});

it.each<[string, string, ...[string, string][]]>([
  [
    "as an assistant wrote it",
    'name: a\ndescription: Use it after a change. Examples:\n\n<example>\nContext: x\nuser: "y: z"\n</example>\n\nmodel: opus',
    ["note", ":3: description is not valid YAML without quotes; it is read as plain text"],
  ],
  ["with the lines of Windows and a byte order mark", "name: a\r\ndescription: x\r\ntools: Read, Bash\r"],
  [
    "with a star and a name of its own",
    "name: Other One\ndescription: x\ntools: *",
    ["note", ":4: tools is not valid YAML without quotes; it is read as plain text"],
    ["warning", ":2: it calls itself Other One; it is found as a"],
  ],
  [
    "without a description, and a model by no name",
    "name: a\nmodel: Inherit",
    ["warning", ": it has no description, so no model is told when to use it"],
    ["warning", ":3: no model is called Inherit (did you mean inherit?)"],
  ],
  [
    "with older names of tools",
    "name: a\ndescription: x\ntools: [NotebookRead, Bash]\ndisallowedTools: Bash(rm *)",
  ],
  ["with a key twice", "name: a\ndescription: x\nname: b", ["error", ":4:1: Map keys must be unique"]],
  ["with a tab", "name: a\ntools:\n\t- Read", ["error", ":4:1: Tabs are not allowed as indentation"]],
])("checkAgents() reads a file of others or names the line: %s", async (_what, settings, ...said) => {
  const md = "/a/agents/a.md";
  const text = `${settings.includes("\r") ? "\uFEFF" : ""}---\n${settings}\n---\nGo.`;
  const found = await checkAgents(options({ [md]: text }));
  expect(
    found.map(({ name, issues }) => [name, ...issues.map((each) => [each.severity, each.message])]),
  ).toEqual([["a", ...said.map(([severity, words]) => [severity, md + words])]]);
});

it("checkAgents() tells of an agent without instructions", async () => {
  const md = "/a/agents/a.md";
  expect(await issues({ [md]: "---\nname: a\ndescription: x\n---\n" })).toEqual([
    ["warning", `${md}: it has no instructions below its settings`],
  ]);
});

it("checkSkills() names what shadows what, and why a file is no skill", async () => {
  const files = memoryFiles({
    "/low/a/SKILL.md": "---\nname: a\n---\nlow",
    "/high/a/SKILL.md": "---\nname: a\ncontext: fork\nmodel: x\neffort: low\nallowed-tools: Read\n---\nhigh",
    "/high/b/SKILL.md": "nothing",
  });
  const skillFolders = (["bundled", "user"] as const).map(
    (source) => ({ dir: source === "user" ? "/high" : "/low", source, kind: "skills" }) as const,
  );
  const found = await checkSkills({ ...options({}), files, skillFolders });
  expect(
    found.map(({ name, source, shadowedBy, issues }) => [
      name,
      source,
      shadowedBy,
      issues.map(({ message }) => message),
    ]),
  ).toEqual([
    [
      "a",
      "user",
      "",
      [
        "/high/a/SKILL.md:5: effort does nothing in this version",
        expect.stringMatching(/:6: rules are not given to a process of its own/),
      ],
    ],
    ["b", "user", "", ["/high/b/SKILL.md must start with ---"]],
    ["bundled:a", "bundled", "/high/a/SKILL.md", []],
  ]);
  expect((await checkSkills({ ...options({}), files, skillFolders }, "bundled:a"))[0]?.text).toContain("low");
});

it("checkSkills() likewise", async () => {
  const path = "/a/skills/talking/SKILL.md";
  const text = "---\nname: talking\ndescripton: x\nallowed-tools: Read Raed /dev/fs\n---\nTalk.";
  const found = await checkSkills(options({ ...SKILLS, [path]: text }));
  expect(found.flatMap((each) => each.issues.map(({ message }) => message))).toEqual([
    `${path}:3: unknown key 'descripton' (did you mean description?)`,
    `${path}:4: unknown tool 'Raed'`,
  ]);
});
