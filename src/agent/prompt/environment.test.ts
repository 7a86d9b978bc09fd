import { expect, test } from "vitest";
import type { Confinement, Surroundings } from "../../abi/surroundings.ts";
import { environmentText } from "./environment.ts";

test("environmentText() tells the folder, the day and the platform", () => {
  expect(environmentText({ cwd: "/a b", day: "2026-01-05", platform: "linux" })).toBe(
    "Working directory: /a b\nDate: 2026-01-05\nPlatform: linux",
  );
});

const place = { cwd: "/project", day: "2026-01-05", platform: "linux" };
const around: Surroundings = {
  confinement: { write: ["/project", "/more"], network: "off" },
  scratch: "/state/scratch/1",
  git: "Git when you started: branch main\nNothing has changed.",
  instructions: [],
  notices: [],
};
const lines = (more: Partial<Surroundings>) => environmentText(place, { ...around, ...more }).split("\n");

test("environmentText() tells the shell, the scratch folder, the sandbox and the repository", () => {
  expect(lines({})).toEqual([
    "Working directory: /project",
    "Date: 2026-01-05",
    "Platform: linux",
    "Shell: bash",
    "Scratch folder: /state/scratch/1, in commands also $CRUX_SCRATCH and /tmp; for files that nobody keeps",
    "Sandbox: commands may write only in /project, /more, the scratch folder; the rest is read-only or hidden. " +
      "Commands have no network. What goes beyond asks the user, or is refused.",
    "Git when you started: branch main",
    "Nothing has changed.",
  ]);
});

test("environmentText() tells of the scratchpad only where there is one", () => {
  expect(lines({ scratchpad: "/state/scratchpads/1" })[5]).toBe(
    "Scratchpad: /state/scratchpads/1; all agents of this session read and write it unasked. It has no links and goes with the session",
  );
  expect(lines({}).some((line) => line.startsWith("Scratchpad"))).toBe(false);
});

test("environmentText() tells of no sandbox, and of hosts, as they are", () => {
  expect(lines({ confinement: null })[5]).toBe("Sandbox: off; commands run with the user's own rights");
  expect(lines({ confinement: null })[4]).not.toContain("/tmp");
  const allow = Array.from({ length: 14 }, (_, at) => `h${at}.example`);
  const reach = (network: Confinement["network"]) => lines({ confinement: { write: [], network } })[5];
  expect(reach({ allow: ["a.example", "*.b.example"], deny: [] })).toContain(
    "Commands reach only a.example, *.b.example.",
  );
  expect(reach({ allow, deny: [] })).toContain("h11.example and 2 more.");
  expect(reach("host")).toContain("network of the host");
});

test("environmentText() tells what commands do without where only rules confine them", () => {
  const told = lines({
    confinement: { write: [], network: { allow: ["a.example"], deny: [] }, kind: "landlock" },
  });
  expect(told[4]).toContain("in commands also $CRUX_SCRATCH and $TMPDIR (/tmp is closed);");
  expect(told[5]).toContain("Commands have no network.");
});
