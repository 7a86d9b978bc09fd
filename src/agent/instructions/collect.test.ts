import { describe, expect, test } from "vitest";
import { type Candidate, collect, foldersBetween, inFolders } from "./collect.ts";

const files = (entries: Readonly<Record<string, string>>, links: Readonly<Record<string, string>> = {}) => {
  const resolve = (path: string) => new URL(`file://${links[path] ?? path}`).pathname;
  return {
    home: "/home/ada",
    realPath: async (path: string) => (entries[resolve(path)] === undefined ? undefined : resolve(path)),
    read: async ({ real }: { real: string }) => {
      if (entries[real] === "!") throw new Error("not approved");
      return entries[real] ?? "";
    },
  };
};
const of = (path: string, scope: Candidate["scope"] = "project", within = ["/w"]): Candidate => ({
  path,
  scope,
  within,
});
const pathsOf = async (...given: Parameters<typeof collect>) =>
  (await collect(...given)).texts.map(({ path }) => path);

describe("collect()", () => {
  test("keeps the order, each file and each text once, empty ones not at all", async () => {
    const all = files(
      { "/w/AGENTS.md": "a", "/w/b.md": " a\n", "/w/c.md": "c", "/w/d.md": " " },
      { "/w/CLAUDE.md": "/w/AGENTS.md" },
    );
    const names = ["/w/AGENTS.md", "/w/CLAUDE.md", "/w/b.md", "/w/missing.md", "/w/d.md", "/w/c.md"];
    expect(
      await collect(
        names.map((name) => of(name)),
        all,
      ),
    ).toEqual({
      texts: [
        { path: "/w/AGENTS.md", scope: "project", text: "a" },
        { path: "/w/c.md", scope: "project", text: "c" },
      ],
      notices: [],
    });
  });

  test("looks for all of its files at once: each look may wait for a busy event loop", async () => {
    const all = files({ "/w/a.md": "a", "/w/b.md": "b" });
    const looked: string[] = [];
    const held = Promise.withResolvers<void>();
    const realPath = async (path: string) => {
      looked.push(path);
      await held.promise;
      return all.realPath(path);
    };
    const names = ["/w/a.md", "/w/missing.md", "/w/b.md"];
    const paths = pathsOf(
      names.map((name) => of(name)),
      { ...all, realPath },
    );
    expect(looked).toEqual(names);
    held.resolve();
    expect(await paths).toEqual(["/w/a.md", "/w/b.md"]);
  });

  test("reads imports before their file, ends cycles, and stops after five", async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [`/w/${at}.md`, `${at} @${at + 1}.md`]),
    );
    expect(await pathsOf([of("/w/0.md")], files(chain))).toEqual(
      [5, 4, 3, 2, 1, 0].map((at) => `/w/${at}.md`),
    );
    const cycle = files({ "/w/a.md": "a @b.md", "/w/b.md": "b @a.md" });
    expect(await pathsOf([of("/w/a.md")], cycle)).toEqual(["/w/b.md", "/w/a.md"]);
  });

  test("an import outside its folders stays text; a file that leads out is named", async () => {
    const all = files(
      {
        "/w/a.md": "a @../out.md @/etc/passwd @~/me.md",
        "/out.md": "o",
        "/etc/passwd": "p",
        "/home/ada/me.md": "m",
      },
      { "/w/l.md": "/out.md" },
    );
    expect(await pathsOf([of("/w/a.md")], all)).toEqual(["/w/a.md"]);
    expect(await pathsOf([of("/w/a.md", "user", ["/w", "/home/ada"])], all)).toEqual([
      "/home/ada/me.md",
      "/w/a.md",
    ]);
    expect(await collect([of("/w/l.md")], all)).toEqual({
      texts: [],
      notices: ["instructions: /w/l.md was left out: it leads out of its folder"],
    });
  });

  test("what may not be read is named with the reason", async () => {
    expect((await collect([of("/w/a.md")], files({ "/w/a.md": "!" }))).notices).toEqual([
      "instructions: /w/a.md was left out: not approved",
    ]);
  });

  test("a file has at most 40,000 characters, all together 100,000: the broadest of the project is cut first", async () => {
    const long = (mark: string) => mark.repeat(50_000);
    const all = files({ "/p/a.md": long("p"), "/w/a.md": long("a"), "/w/b.md": long("b"), "/w/c.md": "c" });
    const { texts, notices } = await collect(
      [of("/p/a.md", "policy", ["/p"]), of("/w/a.md"), of("/w/b.md"), of("/w/c.md")],
      all,
    );
    expect(texts.map(({ text }) => text.length)).toEqual([40_026, expect.any(Number), 40_026, 1]);
    expect(texts.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(100_000);
    expect(texts[1]?.text).toMatch(/^a+\n\(cut: the file is longer\)/);
    expect(notices).toHaveLength(4);
  });
});

test("foldersBetween() and inFolders() go from the root down", () => {
  expect(foldersBetween("/w", "/w/a/b")).toEqual(["/w", "/w/a", "/w/a/b"]);
  expect(foldersBetween("/", "/a")).toEqual(["/", "/a"]);
  expect(foldersBetween("/w", "/other")).toEqual(["/other"]);
  expect(inFolders(["/w"], "project", ["/w"]).map(({ path }) => path)).toEqual([
    "/w/AGENTS.md",
    "/w/CLAUDE.md",
    "/w/.crux/AGENTS.md",
    "/w/.claude/CLAUDE.md",
    "/w/AGENTS.local.md",
    "/w/CLAUDE.local.md",
  ]);
});
