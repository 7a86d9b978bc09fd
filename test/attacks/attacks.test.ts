/** The attack table against the built system: each decision is right, and what is tried all the same touches nothing. */
import { describe, expect, test } from "vitest";
import { inArena, noArena } from "./arena.ts";
import type { Attempt, Person } from "./attempt.ts";
import type { Bite } from "./control.ts";
import type { Race } from "./race.ts";
import { ATTACKS } from "./table.ts";

const reason = noArena();
const MINUTES = 120_000;
const SEED = Number(process.env.CRUX_FUZZ_SEED ?? 1);
const COMPOSITIONS = 300;

const run = (person: Person) => inArena<Attempt>("table", { person });

/** What the gate said: as a person sees it, or as the model reads it. */
function decided({ asked, result }: Attempt): string {
  if (asked.length > 0) return "A";
  const [, code = ""] = /^Error \[(\w+)\]/.exec(result) ?? [];
  return { PERMISSION: "D", INVALID: "I", NOT_FOUND: "N" }[code] ?? "OK";
}

/** Of the cases that are not as expected: the text, what came, what was expected. */
const wrong = (attempts: readonly Attempt[], expected: (attempt: Attempt) => string) =>
  attempts
    .filter((attempt) => decided(attempt) !== expected(attempt))
    .map((attempt) => [attempt.text, decided(attempt), expected(attempt), attempt.result.slice(0, 200)]);

const traces = (attempts: readonly Attempt[], of: (attempt: Attempt) => readonly string[]) =>
  attempts.filter((attempt) => of(attempt).length > 0).map((attempt) => [attempt.text, ...of(attempt)]);

/** A case that is held back leaves its own folder as it was, to the last time stamp. */
const traceless = (attempt: Attempt) => [
  ...(attempt.expected === "OK" ? attempt.touched : attempt.changes),
  ...attempt.leaks,
  ...attempt.elsewhere,
];

describe.skipIf(reason !== undefined)(`the attack table${reason === undefined ? "" : ` (${reason})`}`, () => {
  test(
    "is of attacks that work: with nothing in their way they reach every kind of canary",
    async () => {
      const bites = await inArena<Bite>("control");
      const touched = bites.flatMap((bite) => bite.touched);
      expect(bites.filter((bite) => bite.touched.length > 0).length).toBeGreaterThan(bites.length / 2);
      const canaries = [
        ...["/.git/hooks/pre-commit", "/.git/config", "/.crux/settings.json", "/.ssh/authorized_keys"],
        ...["/.bashrc", "/etc/hosts", "/outside/pwned", "/workspace/x", "tcp", "udp", "secret"],
      ];
      for (const canary of canaries)
        expect(
          touched.some((path) => path.endsWith(canary)),
          canary,
        ).toBe(true);
    },
    MINUTES,
  );

  test(
    "where nobody can be asked, each case that asks is refused, and nothing is touched",
    async () => {
      const attempts = await run("nobody");
      expect(attempts.length).toBe(ATTACKS.length);
      expect(wrong(attempts, ({ expected }) => (expected === "A" ? "D" : expected))).toEqual([]);
      expect(traces(attempts, traceless)).toEqual([]);
    },
    MINUTES,
  );

  test(
    "with a person who says no, each case is decided as the table says, and nothing is touched",
    async () => {
      const attempts = await run("no");
      expect(attempts.length).toBe(ATTACKS.length);
      expect(wrong(attempts, ({ expected }) => expected)).toEqual([]);
      expect(traces(attempts, traceless)).toEqual([]);
    },
    MINUTES,
  );

  test(
    "with a person who says yes to every command, the sandbox keeps each to what it may",
    async () => {
      const attempts = await run("yes");
      expect(wrong(attempts, ({ expected }) => expected)).toEqual([]);
      // they ran: most of them did in their own folder what they came for
      const ran = attempts.filter(({ expected, changes }) => expected === "A" && changes.length > 0);
      expect(ran.length).toBeGreaterThan(attempts.length / 3);
      expect(
        traces(attempts, ({ touched, leaks, elsewhere }) => [...touched, ...leaks, ...elsewhere]),
      ).toEqual([]);
    },
    MINUTES,
  );

  test(
    "is denied in any composition: joined, nested, wrapped, quoted, encoded",
    async () => {
      const attempts = await inArena<Attempt>("compositions", { seed: SEED, count: COMPOSITIONS });
      expect(attempts.length).toBe(COMPOSITIONS);
      expect(wrong(attempts, ({ result }) => (/INVALID/.test(result) ? "I" : "D"))).toEqual([]);
      expect(traces(attempts, traceless)).toEqual([]);
    },
    MINUTES,
  );

  test(
    "does not write through a link that came while the question was open",
    async () => {
      const races = await inArena<Race>("race");
      expect(races.length).toBeGreaterThan(2);
      expect(races.filter(({ result }) => !/^Error \[(?:CONFLICT|PERMISSION)\]/.test(result))).toEqual([]);
      expect(races.flatMap(({ elsewhere }) => elsewhere)).toEqual([]);
    },
    MINUTES,
  );
});
