import { expect, test } from "vitest";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux } from "../../testing/run-command.ts";

const item = (kind: string, path: string) => ({ path, kind, digest: "", state: "new", acts: [] });
const daemon = (...items: readonly object[]) =>
  new FakeDaemon({
    "agents.check": () => ({ definitions: [] }),
    "trust.show": () => ({
      ...{ root: "/w", trusted: false, session_only: false, main: null, declined: false, refused: [] },
      items,
    }),
  });

test.each(["", "list", "check"])(
  "agents %s says that files of a folder that is not trusted are left out",
  async (verb) => {
    const items = [
      item("agent", ".claude/agents/a.md"),
      item("agent", ".claude/agents/b.md"),
      item("skill", "s"),
    ];
    const { err, code } = await crux(`agents ${verb}`, { daemon: daemon(...items) });
    expect([err, code]).toEqual([
      "2 files of this folder not read, since you have not trusted them: see crux trust\n",
      0,
    ]);
    expect((await crux(`agents ${verb}`, { daemon: daemon() })).err).toBe("");
  },
);
