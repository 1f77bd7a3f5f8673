import * as tf from "@tensorflow/tfjs-core";
import { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
import { loadLayersModel, type LayersModel } from "@tensorflow/tfjs-layers";
import { MobileNetV2Model } from "nsfwjs/models/mobilenet_v2";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { classes, inputSide, type Scores } from "./contract.ts";

/**
 * Loads the model. Its package contains the weights, and it computes in WebAssembly, so nothing is fetched over the
 * network. `overrides` in package.json replace the package's dependency @tensorflow/tfjs by a small package, because
 * only parts of it are used: without them it adds 220 MB (`npm install @tensorflow/tfjs && du -sm node_modules`).
 */
export async function startModel(): Promise<(pixels: Uint8Array) => Scores> {
  const wasm = dirname(fileURLToPath(import.meta.resolve("@tensorflow/tfjs-backend-wasm")));
  setWasmPaths(`${wasm}/`);
  if (!(await tf.setBackend("wasm"))) throw new Error("WebAssembly cannot be used");
  const model = await loadModel();
  // Warm-up: the first run prepares the weights.
  classify(model, new Uint8Array(inputSide * inputSide * 3));
  return (pixels) => classify(model, pixels);
}

async function loadModel(): Promise<LayersModel> {
  const definition = await MobileNetV2Model.modelJson();
  const { modelTopology, weightsManifest } = definition.default as tf.io.ModelJSON;
  const bundles = await Promise.all(MobileNetV2Model.weightBundles.map((load) => load()));
  const weights = Buffer.concat(
    bundles.map(({ default: base64 }) => Buffer.from(String(base64), "base64")),
  );
  return loadLayersModel({
    load: async () => ({
      modelTopology,
      weightSpecs: weightsManifest.flatMap((group) => group.weights),
      weightData: Uint8Array.from(weights).buffer,
    }),
  });
}

function classify(model: LayersModel, pixels: Uint8Array): Scores {
  return tf.tidy(() => {
    const shape: [number, number, number, number] = [1, inputSide, inputSide, 3];
    const input = tf.div(tf.tensor4d(Float32Array.from(pixels), shape), 255);
    const output = model.predict(input);
    const scores = Array.isArray(output) ? output[0] : output;
    const values = scores?.dataSync() ?? [];
    return Object.fromEntries(classes.map((name, index) => [name, values[index] ?? 0]));
  });
}
