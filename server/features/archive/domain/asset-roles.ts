/** Roles an asset can have for an entity (COD-05). */
export const assetRoles = ["icon", "portrait", "audio", "other"] as const;
