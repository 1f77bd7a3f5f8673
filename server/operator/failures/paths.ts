export const failuresPath = "/operator/failures";

export const failurePathOf = (id: string): string => `${failuresPath}/${id}`;
