/** The environment variables that an instance depends on. */
export const XAI_ENV = ["XAI_API_KEY", "XAI_BASE_URL"] as const;

/** The vendor's advice: a model that reasons may send nothing for so long. */
export const XAI_PATIENCE_MS = 900_000;
