/** Which model answers, and which models are available, for the environment of the caller. */
import { Fault } from "../../../abi/errors.ts";
import { asPid } from "../../../abi/ids.ts";
import type { ModelDesk } from "../../../kernel/ports/models.ts";
import type { ServerDeps } from "../deps.ts";
import type { Handler } from "../handler.ts";
import { grantedBy } from "../principal.ts";

export const modelResolve: Handler<"model.resolve"> = async (params, { deps, ended }) => {
  const { cwd, agent: name, model = "", env = deps.env } = params;
  const agent = await deps.loadAgent(name, { cwd, env });
  const { provider = "", preferred = "", fallback = [] } = agent?.manifest.models ?? {};
  const { note, ...found } = await deskOf(deps).explain(
    { model, provider, preferred, fallback, env, cwd },
    ended,
  );
  return { payload: { ...found, ...(note === undefined ? {} : { note }) } };
};

export const processModel: Handler<"process.model"> = async (params, call) => {
  const { pid, fallback_models: fallbackModels, ...wish } = params;
  const by = grantedBy(call.principal, call.client);
  const { device, ...found } = await call.kernel.chooseModel(asPid(pid), { ...wish, fallbackModels, by });
  return { payload: { pid, driver: device.split("/").slice(3).join("/"), ...found } };
};

export const modelList: Handler<"model.list"> = async ({ env }, { deps, ended }) => {
  const { drivers, models } = await deskOf(deps).survey(env ?? deps.env, ended);
  return {
    payload: {
      drivers: drivers.map(({ name, isReady, remedy }) => ({ name, is_ready: isReady, remedy })),
      models: models.map(({ isReady, maxOutput, effort, ...each }) => ({
        ...each,
        max_output: maxOutput,
        effort: [...effort],
        is_ready: isReady,
      })),
    },
  };
};

function deskOf({ models }: ServerDeps): ModelDesk {
  if (models !== undefined) return models;
  throw new Fault({ code: "UNAVAILABLE", message: "this daemon has no models" });
}
