import { Fault } from "../../../abi/errors.ts";
import type { Definition } from "../../../abi/methods/definition.ts";
import type { DefinitionWish } from "../deps.ts";
import type { Handler, RequestContext } from "../handler.ts";

export const agentsCheck: Handler<"agents.check"> = (params, call) => look("agents", params, call);
export const skillsCheck: Handler<"skills.check"> = (params, call) => look("skills", params, call);

async function look(
  kind: "agents" | "skills",
  { cwd, name, file }: DefinitionWish,
  { deps }: RequestContext,
): Promise<{ payload: { definitions: Definition[] } }> {
  if (deps.definitions === undefined)
    throw new Fault({ code: "UNAVAILABLE", message: "this daemon loads no agent files" });
  const wish = { cwd, ...(name === undefined ? {} : { name }), ...(file === undefined ? {} : { file }) };
  const found = await deps.definitions(kind, wish);
  if (found.length > 0 || name === undefined) return { payload: { definitions: [...found] } };
  const message = `${kind === "agents" ? "agent" : "skill"} not found: ${name}`;
  throw new Fault({ code: "NOT_FOUND", message, hint: `crux ${kind} lists those there are` });
}
