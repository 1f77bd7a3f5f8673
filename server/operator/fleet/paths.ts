export const fleetPath = "/operator/fleet";
