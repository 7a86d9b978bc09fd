/** What an agent of a compose project is told of the others: their names, for its first request is kept small. */
import { memberName } from "../../abi/member.ts";
import type { Replica } from "./replica.ts";

/** More are not named; a message to one of those needs its name all the same. */
const MAX_NAMED = 16;

/** "": it has nobody to write to. A program reads no messages. */
export function fellowNote(project: string, self: Replica, all: Iterable<Replica>): string {
  const others = [...all].filter(({ id, service }) => id !== self.id && service.program.kind === "agent");
  if (others.length === 0) return "";
  const names = others.slice(0, MAX_NAMED).map(nameOf);
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : "";
  return `You are \`${nameOf(self)}\` of the compose project ${project}. The tool \`send\` takes a message to its other agents by name: ${names.join(", ")}${more}.`;
}

/** The shortest that names it alone. */
function nameOf({ service, n }: Replica): string {
  return service.replicas === 1 ? service.name : memberName({ service: service.name, replica: n });
}
