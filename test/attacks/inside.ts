/** Runs in the arena: one part of the suite, told as lines of JSON on stdout. */
import { Field, type Person, tryAll } from "./attempt.ts";
import { children } from "./children.ts";
import { compositions } from "./compositions.ts";
import { control } from "./control.ts";
import { next } from "./next.ts";
import { race } from "./race.ts";
import { ATTACKS } from "./table.ts";

type Tell = (value: unknown) => void;

const PARTS: Readonly<Record<string, (options: never, tell: Tell) => Promise<void>>> = {
  /** The table, with whoever is there. A person who says yes is asked about commands only: what a tool does itself, no sandbox holds. */
  table: async ({ person }: { person: Person }, tell) => {
    const field = await Field.open();
    const chosen = ATTACKS.filter(({ tool }) => person !== "yes" || tool === "bash");
    await tryAll(
      field,
      chosen.map((attack) => [attack, person] as const),
      tell,
    );
    await field.close();
  },
  compositions: async ({ seed, count }: { seed: number; count: number }, tell) => {
    const field = await Field.open();
    await tryAll(
      field,
      compositions(seed, count).map((attack) => [attack, "nobody"] as const),
      tell,
    );
    await field.close();
  },
  control,
  children,
  next,
  race,
};

const [part = "", options = "{}"] = process.argv.slice(2);
const run = PARTS[part];
if (run === undefined) throw new Error(`no such part: ${part}`);
await run(JSON.parse(options) as never, (value) => console.log(JSON.stringify(value)));
