"""mbd: modular multibody dynamics. One model, any coordinates, every integrator."""
