/**
 * Every option of the table that starts, writes or brings something, in every spelling; and every command with subcommands,
 * behind each of its options. All of them with CRUX_FUZZ_CASES=1, else every few.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { allowed, bash, denied, run, subject } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { SHIPPED_RULES } from "../rules/shipped.ts";
import { loadParser } from "../shell/parser.ts";
import {
  type CommandSpec,
  type Level,
  namesIn,
  type Option,
  optionsOf,
  type ProgramSpec,
} from "../shell/program/option-table.ts";
import { findProgram, PROGRAMS } from "../shell/program/programs.ts";

beforeAll(() => loadParser());

const isWhole = process.env.CRUX_FUZZ_CASES === "1";
const MODES = ["default", "accept_edits"] as const;

const permitWith = (rules: Parameters<typeof makePermit>[0]["rules"]) =>
  makePermit({
    rules: [...SHIPPED_RULES.map(({ text }) => ({ ...allowed(text), behavior: "drop" as const })), ...rules],
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: ["/state"],
    isTrusted: true,
    realPath: (path) => path,
    exists: (path) => path === "/ws/.git",
  });

interface Place {
  readonly program: string;
  readonly row: ProgramSpec;
  /** The program's name and those of its subcommands, all names of each. */
  readonly path: readonly (readonly string[])[];
  readonly level: Level;
  readonly spec: CommandSpec;
}

function placesBelow(place: Place): readonly Place[] {
  const below = Object.entries(place.spec.commands ?? {}).flatMap(([key, spec]) =>
    namesIn(key).flatMap((names) => {
      const level = place.level.commands?.get(names[0] ?? "")?.level();
      return level === undefined ? [] : placesBelow({ ...place, path: [...place.path, names], level, spec });
    }),
  );
  return [place, ...below];
}

const PLACES = PROGRAMS.flatMap((row) => {
  const program = row.names.split(" ")[0] ?? "";
  const level = findProgram(program);
  return level === null ? [] : placesBelow({ program, row, path: [[program]], level, spec: row });
});

const isHarmlessFlag = ({ deed, value }: Option) => deed === null && value === "none";
const bare = (name: string) => name.replace(/^-+/, "");

/** The option alone, as words of the shell. */
function spellings({ level }: Place, { names, value }: Option): readonly string[] {
  const isWord = level.style === "word";
  const flag = isWord ? undefined : [...level.short].find(([, option]) => isHarmlessFlag(option))?.[0];
  const takes = value === "next";
  return names.flatMap((name) => {
    const plain = takes
      ? [`${name} v`, `${name} "$v"`, `${name}=v`]
      : value === "joined"
        ? [name, `${name}=v`]
        : [name];
    const quoted = [
      `'${name}'${takes ? " v" : ""}`,
      `${name.slice(0, 2)}''${name.slice(2)}${takes ? "=v" : ""}`,
    ];
    if (isWord) return [...plain, ...quoted, ...(takes ? [`--${bare(name)}=v`] : [`--${bare(name)}`])];
    if (name.startsWith("--"))
      return [
        ...plain,
        ...quoted,
        ...beginnings(level, name, takes ? "=v" : ""),
        ...beginnings(level, name, takes ? " v" : ""),
      ];
    if (name.length > 2) return [...plain, ...quoted];
    const letter = name.charAt(1);
    const joined = value === "none" ? [name] : [`${name}v`, `${name}'v'`];
    return [
      ...plain,
      ...quoted,
      ...joined,
      ...(flag === undefined
        ? []
        : [`-${flag}${letter}${value === "none" ? "" : " v"}`, `-${flag}${letter}v`]),
    ];
  });
}

/** `--outp`: all that mean this option and none that is harmless. */
function beginnings(level: Level, name: string, value: string): readonly string[] {
  const found: string[] = [];
  for (let end = 3; end < name.length; end++) {
    const short = name.slice(0, end);
    const others = [...level.long].filter(([long, { deed }]) => long.startsWith(short) && deed === null);
    if (!level.long.has(short) && others.length === 0) found.push(`${short}${value}`);
  }
  return found;
}

/** Are options taken behind its operands? */
function isLast({ spec }: Place): boolean {
  return spec.stops !== true && (spec.commands === undefined || spec.isPersistent === true);
}

/** The option in a command line: in front, behind harmless options and operands, behind wrappers. */
function lines(place: Place, option: Option): readonly string[] {
  const head = place.path.map(([name]) => name).join(" ");
  const [, ...subcommands] = place.path.map(([name]) => name);
  const harmless = [...place.level.long].find(([, each]) => isHarmlessFlag(each))?.[0];
  return spellings(place, option).flatMap((text) => [
    `${head} ${text}`,
    `${head} ${text} zz`,
    ...(isLast(place) ? [`${head} zz ${text}`] : []),
    ...(harmless === undefined ? [] : [`${head} ${harmless} ${text} zz`]),
    ...["env CI=1", "timeout 5", "nice -n 5", "nohup", "/usr/bin/env"].map(
      (wrapper) => `${wrapper} ${head} ${text} a`,
    ),
    `/usr/bin/${place.program} ${[...subcommands, text].join(" ")}`,
  ]);
}

describe("an option that starts, writes or brings something", () => {
  test("never runs unasked, in no spelling, under an allow rule for its program", () => {
    const allowedTexts: string[] = [];
    let count = 0;
    let options = 0;
    for (const place of new Map(PLACES.map((each) => [each.level, each])).values()) {
      const acting = optionsOf(place.spec).filter(({ deed }) => deed !== null);
      if (acting.length === 0) continue;
      const permit = permitWith([allowed(`bash(${place.program} *)`), allowed(`bash(${place.program})`)]);
      for (const option of acting) {
        options++;
        const all = lines(place, option);
        for (const text of isWhole ? all : [all[(options * 7) % all.length] ?? ""]) {
          const mode = MODES[count++ % MODES.length] ?? "default";
          if (run(permit, "bash", [bash(text)], subject({ mode })).behavior === "allow")
            allowedTexts.push(text);
        }
      }
    }
    console.log(
      `${count} texts of ${options} options that start, write or bring something: ${allowedTexts.length} allowed`,
    );
    expect(allowedTexts).toEqual([]);
    expect(count).toBeGreaterThan(2000);
  }, 600_000);

  test("never runs unasked as a subcommand that a rule for the program does not name", () => {
    for (const place of PLACES.filter(({ spec, path }) => spec.deed !== undefined && path.length > 1)) {
      const permit = permitWith([allowed(`bash(${place.program} *)`)]);
      for (const name of place.path.at(-1) ?? []) {
        const text = [...place.path.slice(0, -1).map(([each]) => each), name, "a"].join(" ");
        expect(run(permit, "bash", [bash(text)]).behavior, text).not.toBe("allow");
      }
    }
  }, 600_000);
});

describe("a deny of a subcommand", () => {
  test("holds behind every option of the program, by every name, in bypass", () => {
    const missed: string[] = [];
    let count = 0;
    for (const place of PLACES.filter(({ path }) => path.length > 1)) {
      const [[program = ""] = [], ...path] = place.path;
      const top = findProgram(program);
      if (top === null) continue;
      const rule = [program, ...path.map(([name]) => name)].join(" ");
      const permit = permitWith([allowed("bash"), denied(`bash(${rule}:*)`)]);
      const globals = [...optionsOf(place.row), UNKNOWN].flatMap(before);
      const one = globals[(count * 7) % globals.length] ?? "";
      for (const option of isWhole ? ["", ...globals] : [one]) {
        const names = path.map((each) => each[count % each.length] ?? "");
        const text = `${WRAPPERS[count % WRAPPERS.length]}${program} ${option} ${names.join(" ")} a`;
        count++;
        if (run(permit, "bash", [bash(text)], subject({ mode: "bypass" })).behavior !== "deny")
          missed.push(`${rule}: ${text}`);
      }
    }
    console.log(`${count} texts behind denies of subcommands: ${missed.length} not refused`);
    expect(missed).toEqual([]);
    expect(count).toBeGreaterThan(2000);
  }, 600_000);
});

const UNKNOWN: Option = { names: ["--frobnicate", "-Y"], value: "next", deed: null };
const WRAPPERS = ["", "/usr/bin/", "env ", "timeout 5 ", "nice ", "'env' CI=1 ", "command ", "xargs "];

function before({ names, value }: Option): readonly string[] {
  return names.flatMap((name) => (value === "next" ? [`${name} v`, `${name}=v`] : [name]));
}
