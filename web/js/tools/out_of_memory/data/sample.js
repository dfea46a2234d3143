// @ts-check
// A message to try the tool with, in the wording of XLA's TPU compiler; program and figures are made up. Pure.

export const SAMPLE_NAME = "the example";

export const SAMPLE = `Traceback (most recent call last):
  File "train.py", line 88, in <module>
    state, loss = train_step(state, batch)
jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space \
hbm. Used 21.65G of 15.75G hbm. Exceeded hbm capacity by 5.90G.

Total hbm usage >= 21.65G:
    reserved        256.00M
    program          14.90G
    arguments         6.50G

Output size 6.50G; shares 0B with arguments.

Program hbm requirement 14.90G:
    global           64.0K
    scoped           12.00M
    HLO temp         14.89G (98.1% utilization: Unpadded (11.20G) Padded (14.61G), 1.9% fragmentation (288.00M))

  Largest program allocations in hbm:

  1. Size: 8.00G
     Operator: op_name="jit(train_step)/attention/bhqd,bhkd->bhqk/dot_general" source_file="model.py" source_line=55
     Shape: f32[8,64,2048,2048]{3,2,1,0:T(8,128)}
     Unpadded size: 8.00G
     XLA label: fusion.31 = fusion(fusion.30, param.7), kind=kOutput, calls=fused_computation.31
     Allocation type: HLO temp
     ==========================

  2. Size: 4.00G
     Operator: op_name="jit(train_step)/embed/gather" source_file="model.py" source_line=31
     Shape: f32[4096,2048,96]{2,1,0:T(8,128)}
     Unpadded size: 3.00G
     Extra memory due to padding: 1.00G (1.3x expansion)
     XLA label: gather.4 = gather(param.2, reshape.9)
     Allocation type: HLO temp
     ==========================

  3. Size: 1.50G
     Operator: op_name="state.params['mlp']['w1']"
     Shape: f32[24,4096,4096]{2,1,0:T(8,128)}
     Unpadded size: 1.50G
     Entry parameter: true
     XLA label: param.7 = parameter(7)
     Allocation type: Parameter
     ==========================
`;
