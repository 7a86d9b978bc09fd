/** Permission modes of processes, and grants. */
import type { GrantBy, GrantView } from "../../../abi/grants.ts";
import { asPid, type Pid } from "../../../abi/ids.ts";
import type { WireGrant } from "../../../abi/methods/rights.ts";
import type { KernelApi } from "../../../kernel/ports/kernel-api.ts";
import type { Handler } from "../handler.ts";
import { grantedBy } from "../principal.ts";
import { invalid } from "../request.ts";

export const processMode: Handler<"process.mode"> = async ({ pid, mode }, { kernel, principal, client }) => {
  const by = grantedBy(principal, client);
  const payload = await kernel.rights.mode(asPid(pid), mode === undefined ? undefined : { mode, by });
  return { payload };
};

export const labelList: Handler<"label.list"> = async ({ pid }, { kernel }) => {
  const labels = await kernel.rights.labels(asPid(pid));
  return { payload: { pid, labels: [...labels] } };
};

export const labelClear: Handler<"label.clear"> = async ({ pid, which }, { kernel, principal, client }) => {
  const labels = await kernel.rights.clearLabels(asPid(pid), which, grantedBy(principal, client));
  return { payload: { pid, labels: [...labels] } };
};

export const autoModeConfig: Handler<"auto_mode.config"> = async (_params, { kernel }) => {
  const { lists, stage, duringPlan } = kernel.rights.autoMode();
  const { allow, softDeny, environment } = lists;
  const own = { allow: [...allow], soft_deny: [...softDeny], environment: [...environment] };
  return { payload: { ...own, stage, during_plan: duringPlan } };
};

export const grantList: Handler<"grant.list"> = async ({ pid }, { kernel }) => {
  const grants = await kernel.rights.grants(pid === undefined ? undefined : asPid(pid));
  return { payload: { grants: grants.map(wireGrant) } };
};

export const grantAdd: Handler<"grant.add"> = async (params, { kernel, principal, client, gone }) => {
  const { scope = "session", while_connected: isLent = false } = params;
  const pid = asPid(params.pid);
  const by = grantedBy(principal, client);
  const rules = (["allow", "ask", "deny"] as const).flatMap((behavior) =>
    (params[behavior] ?? []).map((rule) => ({ behavior, rule })),
  );
  if (rules.length === 0) throw invalid("payload: no rule is given: allow, ask or deny");
  const ids = await kernel.rights.grant(pid, { rules, scope, by, isLent });
  const back = () => takeBack(kernel, ids, { pid, by });
  if (isLent && gone.aborted) back();
  else if (isLent) gone.addEventListener("abort", back, { once: true });
  return { payload: { ids: [...ids] } };
};

/** The connection ends: where the journal refuses that now, the rules end with the daemon. */
function takeBack(
  { rights }: KernelApi,
  ids: readonly string[],
  { pid, by }: { readonly pid: Pid; readonly by: GrantBy },
): void {
  for (const id of ids) void rights.removeGrant(id, by, { pid }).catch(() => undefined);
}

export const grantRemove: Handler<"grant.remove"> = async (
  { id, pid, kill = false },
  { kernel, principal, client },
) => {
  const where = pid === undefined ? {} : { pid: asPid(pid) };
  await kernel.rights.removeGrant(id, grantedBy(principal, client), { ...where, isKilling: kill });
  return { payload: undefined };
};

function wireGrant({ at, expiresAt, pid, root, uses, requestId: _, ...grant }: GrantView): WireGrant {
  return {
    ...grant,
    at: new Date(at).toISOString(),
    ...(pid === undefined ? {} : { pid }),
    ...(root === undefined ? {} : { root }),
    ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }),
    ...(uses === undefined ? {} : { uses }),
  };
}
