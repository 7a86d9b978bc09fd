/** A line that begins with `/name` calls a skill. One that does not exist is refused before anything is sent. */
import { Fault } from "../../abi/errors.ts";
import { slashLine } from "../../lib/slash.ts";
import { nearNames } from "../../lib/text/near-names.ts";
import type { DaemonAccess } from "../daemon/client.ts";

const MAX_NAMED = 5;

/** `cwd`: where the skills are looked for. */
export async function refuseUnknownSkill(daemon: DaemonAccess, cwd: string, text: string): Promise<void> {
  const line = slashLine(text);
  if (line === undefined) return;
  const client = await daemon.ensure();
  try {
    const { definitions } = await client.request("skills.check", { cwd });
    const isSkill = ({ issues }: (typeof definitions)[number]) =>
      issues.every(({ severity }) => severity !== "error");
    const names = definitions.filter(isSkill).map(({ name }) => name);
    if (names.some((name) => name.toLowerCase() === line.name.toLowerCase())) return;
    throw unknown(line.name, names);
  } finally {
    client.close();
  }
}

function unknown(name: string, names: readonly string[]): Fault {
  const near = nearNames(name, names, (known) => Math.ceil(known.length / 3)).slice(0, MAX_NAMED);
  const others = near.length === 0 ? "" : ` Near: ${near.map((each) => `/${each}`).join(", ")}.`;
  return new Fault({
    code: "INVALID",
    message: `no skill or command /${name}; nothing was sent.${others}`,
    hint: `crux skills lists them; //${name} is sent as text`,
  });
}
