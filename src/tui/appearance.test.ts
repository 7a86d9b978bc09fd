import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Appearance } from "./appearance.ts";
import { preferencesOf } from "./preferences.ts";
import { themeOf } from "./text/theme.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-appearance-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const appearance = (isColourless = false): Appearance =>
  new Appearance({ TERM: "xterm-256color", XDG_CONFIG_HOME: dir }, isColourless, () => {});

test("auto follows the background that the terminal reports, whose answer is no input", () => {
  const made = appearance();
  expect([made.question(), made.question()]).toEqual(["\x1b]11;?\x07", ""]);
  expect(made.theme).toEqual(themeOf("dark", 256));
  const typed = (text: string) => made.withoutAnswer(Buffer.from(text)).toString("utf8");
  // in two parts, between keys
  expect(typed("hé\x1b]11;rgb:ffff/ff") + typed("ff/eeee\x1b\\y")).toBe("héy");
  expect(made.theme).toEqual(themeOf("light", 256));
  expect(typed("\x1b]11;rgb:10/10/20\x07")).toBe("");
  expect(made.theme).toEqual(themeOf("dark", 256));
  expect(typed("\x1b[A]日本")).toBe("\x1b[A]日本");
});

test("a terminal whose colours are not ours to choose is not asked", () => {
  expect(appearance(true).question()).toBe("");
  expect(new Appearance({ TERM: "linux", XDG_CONFIG_HOME: dir }, false, () => {}).question()).toBe("");
});

test("choose() takes shipped themes and own ones, and names what is wrong with a file", () => {
  const made = appearance();
  mkdirSync(join(dir, "crux/themes"), { recursive: true });
  writeFileSync(join(dir, "crux/themes/mine.json"), '{"accent": "#00ff00", "sucess": "#000000"}');
  writeFileSync(join(dir, "crux/themes/broken.json"), "{");
  expect(made.choose("light")).toEqual({ isKnown: true, problems: [] });
  expect(made.theme).toEqual(themeOf("light", 256));
  const { isKnown, problems } = made.choose("mine");
  expect([isKnown, problems]).toEqual([true, [expect.stringMatching(/mine\.json: no role sucess; roles: /)]]);
  expect(made.theme.accent).toBe("38;5;46");
  expect(made.choose("broken").problems).toEqual([expect.stringMatching(/broken\.json: .*JSON/)]);
  expect(made.choose("../../etc/passwd")).toMatchObject({ isKnown: false });
  expect(made.names()).toEqual(expect.arrayContaining(["auto", "ansi", "broken", "mine"]));
});

test("preferencesOf() takes the last value that counts", () => {
  const user = { key: "ui.theme", value: "light", source: "user" } as const;
  const project = {
    ...user,
    value: "ansi",
    source: "project",
    ignored: "not taken from project settings",
  } as const;
  const motion = { key: "ui.reduceMotion", value: true, source: "policy" } as const;
  expect(preferencesOf([user, project, motion])).toMatchObject({ theme: "light", reducesMotion: true });
  expect(preferencesOf([{ ...user, key: "ui.vim", value: true }]).isVim).toBe(true);
  expect(preferencesOf([{ ...user, key: "ui.notify", value: "off" }]).notifies).toBe(false);
  expect(preferencesOf([])).toMatchObject({ theme: "auto", reducesMotion: false });
});
