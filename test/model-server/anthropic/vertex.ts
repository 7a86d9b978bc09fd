/** Messages on Google Cloud: the model stands in the path, the version in the body. */
import { type ApiError, invalidRequest } from "../error.ts";
import type { JsonObject } from "../json.ts";
import type { HttpRequest } from "../request.ts";

const version = "vertex-2023-10-16";

/** The request as the vendor's own interface has it; an error: what the platform refuses. */
export function plainRequest(
  http: HttpRequest,
  body: JsonObject,
): { readonly http: HttpRequest; readonly body: JsonObject } | ApiError {
  const [, model] =
    /\/publishers\/anthropic\/models\/([^/]+):(streamRawPredict|rawPredict)$/.exec(http.path) ?? [];
  if (model === undefined) return { http, body };
  const { anthropic_version: told, ...rest } = body;
  if (told !== version) return invalidRequest(`anthropic_version: Input should be '${version}'`);
  if (rest.model !== undefined) return invalidRequest("model: Extra inputs are not permitted");
  const headers = { ...http.headers, "anthropic-version": version };
  return { http: { ...http, headers }, body: { model: decodeURIComponent(model), ...rest } };
}
